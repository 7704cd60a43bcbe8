#include "diagnose/user_code.h"

#include <fmt/format.h>

#include "measure/loaders/dataset_makers.h"
#include "text/numbers.h"

namespace doctor {
namespace {

const IteratorMeasurement& at(const HostMeasurement& host, IteratorId iterator) {
  return host.iterators[iterator];
}

/// " at input.py:37, 38": the lines that the user wrote it in; empty if they are not known.
std::string at_lines(const IteratorMeasurement& iterator) {
  const std::vector<SourceLine>& lines = iterator.source_lines;
  std::string words;
  for (std::size_t index = 0; index < lines.size(); ++index) {
    const SourceLine& line = lines[index];
    if (index == 0) {
      words = " at " + to_text(line);
    } else if (line.file != lines[index - 1].file) {
      words += ", " + to_text(line);
    } else if (line.line != lines[index - 1].line) {
      words += fmt::format(", {}", line.line);
    }
  }
  return words;
}

/// `map + batch`, `map "parse" + batch`: the methods that the user called, with the names that they were given.
std::string method_words(const UserCall& call) {
  std::string words;
  for (std::size_t index = 0; index < call.methods.size(); ++index) {
    words += fmt::format("{}{}", index == 0 ? "" : " + ", call.methods[index]);
    if (index < call.names.size() && !call.names[index].empty()) words += fmt::format(" \"{}\"", call.names[index]);
  }
  return words;
}

/// A call of a method, or several that TF fused: "map at input.py:33", "your 2nd map", "Dataset.map".
std::string describe_method(const IteratorMeasurement& iterator) {
  const UserCall& call = iterator.user_call;
  const std::string methods = method_words(call);
  const std::string place = at_lines(iterator);
  if (methods.empty()) return describe(iterator) + place;
  const bool is_named = !call.name().empty();
  if (!is_named && call.is_one_of_several()) return fmt::format("your {} {}{}", ordinal(call.number), methods, place);
  const bool is_alone = place.empty() && !is_named && call.methods.size() == 1;
  return is_alone ? "Dataset." + methods : methods + place;
}

std::string describe_source(const IteratorMeasurement& iterator) {
  const UserCall& call = iterator.user_call;
  std::string words = describe(iterator) + at_lines(iterator);
  if (!iterator.is_source) return words;
  if (const std::string name = call.name(); !name.empty()) return words + fmt::format(" (named {})", name);
  if (!call.is_one_of_several()) return words;
  return words + fmt::format(" (the {} of {})", ordinal(call.number), call.count);
}

/// Whether it is the generator of a class of Keras. Python's frames show that one takes from the queue of Keras'
/// workers, after which Keras puts nothing, not even a prefetch.
bool is_of_keras(const HostMeasurement& host, IteratorId id) {
  if (at(host, id).kind().source != Source::python) return false;
  const std::string maker = at(host, id).user_call.method();
  if (maker == "PyDataset" || maker == "Sequence") return true;
  const std::vector<IteratorId> above = host.iterators_above(id);
  return host.batch_making && host.batch_making->is_of_keras && host.batch_making->has_queue &&
         at(host, id).line() == nullptr && std::all_of(above.begin(), above.end(), [&](IteratorId stage) {
           return at(host, stage).has(Trait::frame) || at(host, stage).is_sequential(Trait::flat_map);
         });
}

/// Whether it is a method of a dataset: not a source, not what TF puts in.
bool is_method(const IteratorMeasurement& iterator) {
  return iterator.kind().words.starts_with("Dataset.");
}

}  // namespace

std::string describe(const IteratorMeasurement& iterator) {
  const std::vector<std::string>& steps = iterator.user_call.steps;
  if (iterator.is_fused() && !steps.empty()) return fmt::format("{}", fmt::join(steps, " + "));
  if (iterator.is_device_hop) return "the copy to the device";
  std::string_view words = iterator.kind().words;
  if (words.empty()) words = iterator.short_name;
  return std::string(words) + (iterator.is_injected() ? " (added by TF)" : "");
}

std::string describe(const HostMeasurement& host, IteratorId id) {
  const IteratorMeasurement& iterator = at(host, id);
  if (host.batch_making && is_of_keras(host, id)) return describe(*host.batch_making);
  if (!iterator.maker.empty()) {
    const bool may_be_other = iterator.maker == kDirectoryReader && iterator.line() == nullptr;
    const std::vector<std::string>& steps = iterator.user_call.steps;
    return fmt::format("the {} inside of {}{}{}",
                       steps.empty() ? std::string(iterator.kind_name()) : fmt::format("{}", fmt::join(steps, " + ")),
                       iterator.user_call.method(), may_be_other ? " or one like it" : "", at_lines(iterator));
  }
  if (iterator.has(Trait::fused_batch) || iterator.is_fused()) return describe_method(iterator);
  if (iterator.is_put_in_by_tf()) return describe(iterator);
  if (iterator.shuffles_file_names) return "the shuffle of file names" + at_lines(iterator);
  return is_method(iterator) ? describe_method(iterator) : describe_source(iterator);
}

std::string describe_end_of_call(const HostMeasurement& host, IteratorId id) {
  const IteratorMeasurement& iterator = at(host, id);
  const bool is_last_step = iterator.parent == kNoIterator || !iterator.is_of_call_of(host.iterators[iterator.parent]);
  return iterator.maker.empty() || !is_last_step ? describe(host, id)
                                                 : iterator.user_call.method() + at_lines(iterator);
}

bool is_one_of_several(const IteratorMeasurement& iterator) {
  return (is_method(iterator) || iterator.is_fused()) && iterator.maker.empty() &&
         iterator.user_call.is_one_of_several();
}

bool is_made_by_keras(const HostMeasurement& host, IteratorId iterator) {
  const auto is_class_of_keras = [&](IteratorId id) { return is_of_keras(host, id); };
  const IteratorId root = host.iterators[iterator].root;
  const std::vector<IteratorId> members = host.iterators_below(root == kNoIterator ? iterator : root);
  return is_class_of_keras(iterator) || std::any_of(members.begin(), members.end(), is_class_of_keras);
}

bool has_other_loader(const PipelineMeasurement& pipeline) {
  return !pipeline.next_of.empty() && pipeline.next_of != kTfData;
}

const BatchMaking* batch_making_of(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const bool is_of_queue = pipeline.root != kNoIterator && is_made_by_keras(host, pipeline.root);
  if (!host.batch_making || (!has_other_loader(pipeline) && !is_of_queue)) return nullptr;
  return &*host.batch_making;
}

std::string describe(const BatchMaking& making) {
  if (making.function.empty()) return std::string(kKerasQueue);
  if (making.workers == 0) return making.function;
  return fmt::format("{} in {}", making.function, format_count(making.workers, "worker thread"));
}

std::string describe(const LoaderStage& stage) {
  return stage.function.empty() ? stage.name : fmt::format("{} ({})", stage.name, stage.function);
}

bool is_made_elsewhere(const BatchMaking& making) {
  if (making.is_of_keras) return making.function.empty() && !making.ready.empty();
  return making.made_by == MadeBy::processes && !(making.slowest && making.slowest->is_in_next);
}

std::string_view reader_expression(const IteratorMeasurement& iterator) {
  const DatasetKind& kind = iterator.kind();
  return kind.is_source() ? kind.code : std::string_view{};
}

}  // namespace doctor
