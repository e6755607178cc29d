// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/model.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/json.hpp"
#include "base/setting.hpp"
#include "weft/text_file.hpp"

namespace weft::tool {
namespace {

double* find_part(Model& model, std::string_view name) {
  const struct {
    std::string_view name;
    double* value;
  } parts[] = {{"latency", &model.between.latency},
               {"overhead", &model.between.overhead},
               {"per_byte", &model.between.per_byte},
               {"local_latency", &model.within.latency},
               {"local_overhead", &model.within.overhead},
               {"local_per_byte", &model.within.per_byte},
               {"far_latency", &model.far.latency},
               {"far_overhead", &model.far.overhead},
               {"far_per_byte", &model.far.per_byte},
               {"gap", &model.gap},
               {"copy", &model.copy},
               {"unexpected", &model.unexpected},
               {"incast", &model.incast}};
  for (const auto& part : parts) {
    if (name == part.name) return part.value;
  }
  return nullptr;
}

bool read_seconds(const std::string& text, double& value) {
  char* end = nullptr;
  const double seconds = strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds >= 0 && seconds <= 1)) return false;
  value = seconds;
  return true;
}

}  // namespace

bool read_model(const std::string& text, Model& model, base::Problem& problem) {
  const char* remedy = "see weft simulate --help";
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    at = comma + 1;
    const size_t equals = part.find('=');
    double* value = find_part(model, part.substr(0, equals));
    if (value == nullptr || equals == std::string::npos) {
      return refuse(problem, "--model: " + base::quoted(part) + " is not a part of the model and its value", remedy);
    }
    if (!read_seconds(part.substr(equals + 1), *value)) {
      return refuse(problem, "--model: " + base::quoted(part) + ": a time of 0 to 1 second is wanted", remedy);
    }
  }
  return true;
}

bool read_model_file(const std::string& path, Model& model, base::Problem& problem) {
  std::string text;
  base::Json json;
  base::JsonProblem wrong;
  const char* remedy = "name a file that weft tune has written";
  const std::string named = "--measured " + base::quoted(path);
  if (const int error = read_text(path, text); error != 0) {
    problem = {.cause = named + " cannot be read", .error = error, .remedy = remedy};
    return false;
  }
  if (!base::parse_json(text, json, wrong)) {
    return refuse(problem, named + " cannot be used: line " + std::to_string(wrong.line) + ": " + wrong.what, remedy);
  }
  const base::Json* measured = json.kind == base::Json::ValueKind::object ? json.find("measured") : nullptr;
  const base::Json* parts =
      measured != nullptr && measured->kind == base::Json::ValueKind::object ? measured->find("model") : nullptr;
  if (parts == nullptr || parts->kind != base::Json::ValueKind::object) {
    return refuse(problem, named + " has no measured model", "measure it: weft tune --only model");
  }
  for (size_t i = 0; i < parts->items.size(); ++i) {
    double* value = find_part(model, parts->names[i]);
    if (value == nullptr || !read_seconds(parts->items[i].text, *value)) {
      return refuse(problem,
                    named + " cannot be used: line " + std::to_string(parts->items[i].line) + ": " +
                        base::quoted(parts->names[i]) + " is not a part of the model with a time of 0 to 1 second",
                    remedy);
    }
  }
  return true;
}

bool add_measured_model(const std::string& output, std::string& json, std::string& wrong) {
  std::istringstream lines(output);
  Model known;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, name, seconds;
    double value = 0;
    words >> first >> name >> seconds;
    if (first == "job") continue;
    if (first != "model" || find_part(known, name) == nullptr || !read_seconds(seconds, value)) {
      wrong = line;
      return false;
    }
    json += (json.empty() ? "" : ", ") + base::json_text(name) + ": " + seconds;
  }
  return true;
}

}  // namespace weft::tool
