#pragma once

#include <string>
#include <string_view>

namespace doctor {

/// The last part of a long name without its element index: "Iterator::Root::Zip[1]::Map[0]" -> "Map".
std::string_view short_name_of(std::string_view long_name);

/// A short name without the version that the runtime appends: "ParallelMapV2" -> "ParallelMap",
/// "ParallelInterleaveDatasetV4" -> "ParallelInterleave".
std::string_view without_version(std::string_view short_name);

/// Whether the transformation's input runs on other threads than its GetNext, so that a call of it may wait for them.
/// Source: seed 000 ("asynchronous transformations"), extended by the kinds of TF 1.15 to 2.21.
bool is_asynchronous(std::string_view short_name);

/// Whether the dataset reads or makes data instead of transforming an input (seed 000, "source datasets").
bool is_source(std::string_view short_name);

/// Whether the source reads files or a remote store: not what is in memory, nor what Python makes.
bool reads_files(std::string_view short_name);

/// Whether it keeps elements for later epochs: Cache, CacheV2, MemoryCache…
bool is_cache(std::string_view short_name);

/// Whether it is a Generator: a Python generator of the user, or the hop of a device pipeline to its host pipeline.
bool is_generator(std::string_view short_name);

/// Whether the element index behind this part of a long name counts elements that are alike (files of an interleave,
/// epochs of a repeat), so that iterators that differ only in it are one. Inputs of Zip and Concatenate are not alike.
bool has_like_elements(std::string_view short_name);

/// Whether the part is the runtime's frame or only counts elements: it does no work of its own.
bool is_frame(std::string_view short_name);

/// A long name with the indices of like elements dropped:
/// "Iterator::Root::ForeverRepeat[7]::Zip[1]::Map" -> "Iterator::Root::ForeverRepeat::Zip[1]::Map".
std::string fold_like_elements(std::string_view long_name);

}  // namespace doctor
