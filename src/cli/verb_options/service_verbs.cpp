// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_options/service_verbs.hpp"

#include <memory>

#include "cli/inputs/transport_choice.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/verbs.hpp"
#include "sluice/base/pace_types.hpp"

namespace sluice::lib::cli {
namespace {

constexpr const char* kAddressFileHelp = "write the address to this file, when the server is ready";

void add_dispatcher(CLI::App& app, reading_arguments& reading, std::function<int()>& verb) {
  auto a = std::make_shared<dispatcher_arguments>();
  auto* dispatcher = app.add_subcommand(
      "dispatcher", "serve distribute(\"ADDRESS\"): divide plans into splits, and give them to consumers and workers");
  dispatcher->add_option("--listen", a->listen, "host and port; port 0 is a free one")
      ->check(server_address())
      ->capture_default_str();
  dispatcher
      ->add_option("--store", a->store,
                   "sqlite:PATH, a file from which a later dispatcher continues; by default the state is lost with "
                   "the process")
      ->check(metadata_store());
  dispatcher
      ->add_option(
          "--static-workers", a->workers,
          "for mode=file, data and hint: the addresses of all workers, separated by commas; %port% is any port")
      ->delimiter(',');
  dispatcher->add_option("--address-file", a->address_file, kAddressFileHelp)->check(path());
  add_reading_options(*dispatcher, reading);
  dispatcher->callback([&verb, &reading, a] {
    verb = [&reading, a] {
      a->reading = reading;
      return dispatcher_verb(*a);
    };
  });
}

void add_worker(CLI::App& app, reading_arguments& reading, std::function<int()>& verb) {
  auto a = std::make_shared<worker_arguments>();
  auto patience = std::make_shared<std::string>("10s");
  auto* worker = app.add_subcommand("worker", "run splits for a dispatcher, and send their elements to consumers");
  worker->add_option("--dispatcher", a->dispatcher, "the address of the dispatcher, host:port")
      ->check(server_address())
      ->required();
  worker->add_option("--listen", a->listen, "host and port; port 0 is a free one")
      ->check(server_address())
      ->capture_default_str();
  worker
      ->add_option("--address", a->address,
                   "the address by which consumers reach this worker, with %port% for its port; by default the one "
                   "that it listens on")
      ->check(reachable_address());
  worker->add_option("--address-file", a->address_file, kAddressFileHelp)->check(path());
  worker->add_option("--tags", a->tags, "words that jobs may ask for, separated by commas")->delimiter(',');
  worker->add_option("--slots", a->slots, "splits to run at a time before other workers get more; by default the cores")
      ->check(whole(1, 65'536));
  worker
      ->add_option("--patience", *patience,
                   "after SIGTERM: how long to finish the splits that run; consumers continue the others elsewhere")
      ->check(time_span())
      ->capture_default_str();
  add_reading_options(*worker, reading);
  worker->callback([&verb, &reading, a, patience] {
    verb = [&reading, a, patience] {
      a->reading = reading;
      read_time_span(*patience, a->patience_ns);
      return worker_verb(*a);
    };
  });
}

void add_status(CLI::App& app, std::function<int()>& verb) {
  auto a = std::make_shared<status_arguments>();
  auto* status = app.add_subcommand("status", "print workers, jobs, and splits in flight of a dispatcher");
  status->add_option("ADDRESS", a->address, "the address of the dispatcher, host:port")
      ->required()
      ->check(server_address());
  status->add_flag("--json", a->as_json, "print everything as JSON; with --watch one line each second");
  status->add_flag("--watch", a->watches, "print it again each second");
  add_transport_option(*status);
  status->callback([&verb, a] { verb = [a] { return status_verb(*a); }; });
}

void add_register(CLI::App& app, reading_arguments& reading, std::function<int()>& verb) {
  auto a = std::make_shared<register_arguments>();
  auto* registering = app.add_subcommand(
      "register",
      "give a plan to a dispatcher, and print the id by which from_dataset_id(\"ADDRESS\", \"ID\") reads it");
  registering->add_option("PLAN", a->plan, "the plan; or a file, which is read");
  auto* in_file = registering->add_option("-f,--file", a->plan_file,
                                          "read the plan, as text or JSON, from this file; - for standard input");
  in_file->check(path())->excludes("PLAN");
  registering->parse_complete_callback([registering, in_file] {
    if (registering->count("PLAN") == 0 && in_file->count() == 0) throw CLI::RequiredError("PLAN or --file");
  });
  registering->add_option("--dispatcher", a->dispatcher, "the address of the dispatcher, host:port")
      ->check(server_address())
      ->required();
  registering->add_option("--dataset-id", a->dataset_id,
                          "the id; another plan under the same id is refused. By default one of the plan's content");
  add_reading_options(*registering, reading);
  registering->callback([&verb, &reading, a] {
    verb = [&reading, a] {
      a->reading = reading;
      return register_verb(*a);
    };
  });
}

}  // namespace

void add_service(CLI::App& app, reading_arguments& reading, std::function<int()>& verb) {
  add_dispatcher(app, reading, verb);
  add_worker(app, reading, verb);
  add_status(app, verb);
  add_register(app, reading, verb);
}

}  // namespace sluice::lib::cli
