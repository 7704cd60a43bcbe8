"""What lists URLs for the program, without fsspec."""

import unittest

from tfdata_doctor._remote import lines_of


class RemoteTest(unittest.TestCase):
    def test_a_line_has_size_time_and_url(self):
        files = {
            "bucket/logs/a b.xplane.pb": {"size": 7, "LastModified": "2026-01-02 03:04:05+00:00"},
            "bucket/logs/new\nline": {"size": 7},
            "bucket/logs/c.pb": {"size": None},
            "elsewhere/d.pb": {"size": 1},
        }
        lines = ["7\t2026-01-02T03:04:05+00:00\ts3://bucket/logs/a b.xplane.pb", "0\t-\ts3://bucket/logs/c.pb"]
        for url, root in (("s3://bucket/logs/", "bucket/logs/"), ("s3://bucket/logs", "bucket/logs")):
            self.assertEqual(lines_of(url, root, files), lines)

    def test_a_file_is_its_own_url(self):
        self.assertEqual(lines_of("gs://b/x.pb", "b/x.pb", {"b/x.pb": {"size": 3}}), ["3\t-\tgs://b/x.pb"])


if __name__ == "__main__":
    unittest.main()
