-- Which iterators take most time over all traces? For TF1 timelines, too
SELECT sum(duration_us) AS total_us, avg(duration_us) AS average_us, min(duration_us) AS min_us,
       max(duration_us) AS max_us, long_name
FROM events WHERE long_name LIKE 'Iterator::%'
GROUP BY long_name ORDER BY total_us DESC LIMIT 20;

-- What does a step of TF1 spend its time on, by node of the graph?
SELECT sum(dur) AS total_dur, avg(dur) AS avg_dur, min(dur) AS min_dur, max(dur) AS max_dur, arg_name
FROM timeline_events GROUP BY arg_name ORDER BY 1 DESC LIMIT 20;

-- Which iterators do the consumers wait for?
SELECT long_name, sum(critical_us) AS critical_us, sum(self_us) AS self_us, sum(calls) AS calls
FROM iterators GROUP BY long_name ORDER BY critical_us DESC LIMIT 20;

-- Who held the slowest calls?
SELECT calls.trace, calls.call, latency_us, segments.long_name, segments.kind,
       sum(segments.duration_us) AS held_us
FROM (SELECT * FROM calls ORDER BY latency_us DESC LIMIT 5) AS calls
JOIN segments ON segments.trace = calls.trace AND segments.host = calls.host
     AND segments.pipeline IS calls.pipeline AND segments.call = calls.call
GROUP BY calls.trace, calls.host, calls.pipeline, calls.call, segments.long_name, segments.kind
ORDER BY latency_us DESC, held_us DESC;

-- How long do the calls take, step by step?
SELECT trace, host, pipeline, call, latency_us,
       latency_us - lag(latency_us) OVER (PARTITION BY trace, host, pipeline ORDER BY call) AS change_us
FROM calls ORDER BY trace, host, pipeline, call;

-- What does the time of the steps go to?
SELECT trace, host, count(*) AS steps, avg(duration_us) AS average_us,
       sum(input_us) / sum(duration_us) AS input_share,
       sum(device_compute_16_us + device_compute_32_us) / sum(duration_us) AS device_share
FROM steps WHERE is_counted GROUP BY trace, host ORDER BY input_share DESC;

-- Which ops take most time on the host?
SELECT type, sum(occurrences) AS occurrences, sum(self_us) AS self_us
FROM ops WHERE host_or_device = 'host' GROUP BY type ORDER BY self_us DESC LIMIT 20;

-- Which kernels could use TensorCores and do not?
SELECT kernel_name, op_name, sum(total_us) AS total_us
FROM kernels WHERE op_tensor_core_eligible AND NOT kernel_uses_tensor_core
GROUP BY kernel_name, op_name ORDER BY total_us DESC LIMIT 20;

-- Which faults cost the most time?
SELECT rule, severity, count(DISTINCT trace) AS traces, sum(at_stake_us) AS at_stake_us
FROM findings GROUP BY rule, severity ORDER BY at_stake_us DESC;

-- Which kinds of culprit lose most hours? For the rows of `batch`, too
SELECT culprit_kind, culprit_dataset, count(*) AS traces, sum(input_lost_us) / 3.6e9 AS hours_lost
FROM traces WHERE culprit IS NOT NULL
GROUP BY culprit_kind, culprit_dataset ORDER BY hours_lost DESC;

-- Which parallelism did AUTOTUNE choose?
SELECT long_name, attributes ->> '$.parallelism' AS parallelism, count(*) AS iterators
FROM iterators WHERE parallelism IS NOT NULL GROUP BY long_name, parallelism ORDER BY iterators DESC;

-- Which threads are busy how long?
SELECT file, process, thread, count(*) AS events, max(start_us + duration_us) - min(start_us) AS span_us
FROM events GROUP BY file, process, thread, pid, tid ORDER BY events DESC LIMIT 20;

-- What was read, and was anything lost?
SELECT path, format, host, bytes, events, is_complete, lost FROM files ORDER BY path;
