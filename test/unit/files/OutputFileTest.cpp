// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens to what is already at the path of an output.
#include "runtime/files/OutputFile.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace wsc::files {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
protected:
  OutputFileTest() {
    std::string pattern = testing::TempDir() + "files-test-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~OutputFileTest() override { fs::remove_all(folder); }

  std::string at(const std::string &name) const { return (folder / name).string(); }
  std::string put(const std::string &name, const std::string &content) const {
    std::ofstream(at(name)) << content;
    return at(name);
  }
  std::string content(const std::string &name) const {
    std::ostringstream text;
    text << std::ifstream(at(name)).rdbuf();
    return text.str();
  }
  size_t numFiles() const { return size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator())); }

  fs::path folder;
};

TEST_F(OutputFileTest, ReplacesAFileAtTheEndAndKeepsItsPermissions) {
  put("y", "before");
  fs::permissions(at("y"), fs::perms(0640));
  {
    auto file = OutputFile::open(at("y"));
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(file->write("aft").ok());
    EXPECT_EQ(content("y"), "before");
    ASSERT_TRUE(file->write("er").ok());
    ASSERT_TRUE(file->commit().ok());
  }
  EXPECT_EQ(content("y"), "after");
  EXPECT_EQ(fs::status(at("y")).permissions(), fs::perms(0640));
  EXPECT_EQ(numFiles(), 1u);
}

TEST_F(OutputFileTest, WithoutCommitNothingChanges) {
  put("y", "before");
  {
    auto file = OutputFile::open(at("y"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("after").ok());
  }
  EXPECT_EQ(content("y"), "before");
  EXPECT_EQ(numFiles(), 1u);
}

TEST_F(OutputFileTest, ALinkKeepsPointingAtItsFile) {
  put("y", "before");
  fs::create_symlink("y", at("link"));
  fs::create_symlink("none", at("dangling"));
  ASSERT_TRUE(writeWhole("after", at("link")).ok());
  ASSERT_TRUE(writeWhole("made", at("dangling")).ok());
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_TRUE(fs::is_symlink(at("dangling")));
  EXPECT_EQ(content("y"), "after");
  EXPECT_EQ(content("none"), "made");
}

TEST_F(OutputFileTest, DevicesAndFifosAreWrittenThrough) {
  EXPECT_TRUE(writeWhole("anything", "/dev/null").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  ASSERT_EQ(mkfifo(at("fifo").c_str(), 0600), 0);
  std::string read;
  std::thread reader([&] { read = content("fifo"); });
  EXPECT_TRUE(writeWhole("through", at("fifo")).ok());
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_TRUE(fs::is_fifo(at("fifo")));
}

TEST_F(OutputFileTest, AFullDiskIsAnError) {
  const absl::Status status = writeWhole("anything", "/dev/full");
  EXPECT_EQ(status.message(), "/dev/full: cannot be written: No space left on device");
}

TEST_F(OutputFileTest, OutputsAreCheckedBeforeTheWork) {
  const std::string model = put("own.onnx", "model");
  fs::create_symlink("own.onnx", at("other-name"));
  fs::create_directory(at("folder"));
  const auto check = [&](std::vector<Output> outputs) {
    return std::string(checkOutputs(outputs, std::vector<std::string>{model}).message());
  };
  EXPECT_EQ(check({{"-o", model}}), "-o " + model + " would replace the input " + model + "; name another file");
  EXPECT_EQ(check({{"-o", at("other-name")}}),
            "-o " + at("other-name") + " would replace the input " + model + "; name another file");
  EXPECT_EQ(check({{"-o", at("y")}, {"--report", at("folder/../y")}}),
            "-o " + at("y") + " and --report " + at("folder/../y") + " are one file; name two");
  EXPECT_EQ(check({{"-o", at("none/y")}}), "-o " + at("none/y") + ": cannot be created: No such file or directory");
  EXPECT_EQ(check({{"-o", at("folder")}}), "-o " + at("folder") + ": cannot be written: Is a directory");
  EXPECT_EQ(check({{"--output", at("own.onnx/y"), true}}),
            "--output " + at("own.onnx/y") + ": cannot be written: Not a directory");
  EXPECT_EQ(check({{"-o", at("y")}, {"--report", ""}, {"--output", at("made/later"), true}}), "");
  EXPECT_EQ(check({{"-o", "/dev/null"}, {"--report", "/dev/null"}}), "");
  EXPECT_EQ(numFiles(), 3u) << "checking leaves nothing behind";
}

TEST_F(OutputFileTest, ASignalLeavesNoTemporaryFile) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    cleanUpOnSignals();
    auto file = OutputFile::open(at("y"));
    [[maybe_unused]] const ssize_t told = write(ready[1], "x", 1);
    for (;;)
      pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(numFiles(), 1u);
  ASSERT_EQ(kill(child, SIGTERM), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(numFiles(), 0u);
}

} // namespace
} // namespace wsc::files
