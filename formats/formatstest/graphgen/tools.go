package graphgen

// call is one use of a tool, in all the spellings that it has.
type call struct {
	id         string
	num        int    // of its field in ToolCall
	kind       string // the client's name for it
	name       string // the model's
	input      string // what the model wrote, JSON
	args       message
	outcome    string // the result's case; "" for none
	result     message
	failed     bool
	content    []piece // what the model was shown
	start, end int64
	hook       string // what a hook added
	eventArgs  string // the client's projection of the arguments, JSON
	eventValue string // and of the result
	announced  bool   // events tell of it
	told       bool   // and nothing else does
	child      *Child
}

// piece is text, or an image if it has bytes.
type piece struct {
	text  string
	image []byte
	mime  string
}

// maker fills in one kind of tool.
type maker struct {
	num        int
	kind, name string
	announced  bool
	make       func(s *source, c *call)
}

func (c *call) ends(num int, outcome string, body message) {
	c.outcome = outcome
	c.result = message{{num, outcome, body}}
}

func makers() []maker {
	return []maker{
		{1, "shell", "Shell", true, shell},
		{3, "delete", "Delete", true, remove},
		{4, "glob", "Glob", true, glob},
		{5, "grep", "Grep", true, grep},
		{8, "read", "Read", true, read},
		{9, "updateTodos", "TodoWrite", true, updateTodos},
		{12, "edit", "StrReplace", true, edit},
		{14, "readLints", "ReadLints", true, lints},
		{15, "mcp", "mcp_server_tool", true, mcp},
		{18, "webSearch", "WebSearch", false, webSearch},
		{23, "askQuestion", "AskQuestion", false, ask},
		{42, "await", "AwaitShell", false, await},
		{97, "tool-97", "BrandNew", false, unheardOf},
	}
}

func shell(s *source, c *call) {
	cmd, dir := s.text(), s.path()
	c.args = message{{1, "command", cmd}, {2, "workingDirectory", dir}, {3, "timeout", int32(30000)}, {4, "toolCallId", c.id}, {5, "simpleCommands", list{"a", s.text()}},
		{8, "parsingResult", message{{2, "executableCommands", list{message{{1, "name", s.text()}}}}}}, {10, "fileOutputThresholdBytes", uint64(1) << 60}, {11, "isBackground", false},
		{13, "timeoutBehavior", enum{2, "TIMEOUT_BEHAVIOR_BACKGROUND"}}, {15, "description", s.text()}}
	c.input = `{ "command": ` + quote(cmd) + `,"n":1e3 , "half":"\ud83d"}`
	out, err := s.text(), s.text()
	if s.chance(10) {
		out = s.long()
	}
	c.content = []piece{{text: out}}
	body := message{{1, "command", cmd}, {2, "workingDirectory", dir}, {3, "exitCode", int32(0)}, {5, "stdout", out}, {6, "stderr", err}, {7, "executionTime", int32(12)}}
	switch s.IntN(5) {
	default:
		c.ends(1, "success", body)
	case 0:
		body[2].v = int32(s.IntN(255) + 1)
		c.ends(2, "failure", append(body, field{10, "abortReason", enum{1, "SHELL_ABORT_REASON_USER_ABORT"}}))
	case 1:
		c.ends(4, "rejected", message{{1, "command", cmd}, {3, "reason", s.text()}})
	}
	if s.chance(30) {
		c.result = append(c.result, field{102, "isBackground", true}, field{104, "pid", uint32(4_000_000_000)})
	}
	c.eventArgs = `{"command":` + quote(cmd) + `}`
	c.eventValue = `{"exitCode":0,"stdout":` + quote(out) + `}`
}

func remove(s *source, c *call) {
	p := s.path()
	c.args = message{{1, "path", p}, {2, "toolCallId", c.id}}
	if s.chance(50) {
		c.ends(1, "success", message{{1, "path", p}, {3, "fileSize", int64(-1)}, {4, "prevContent", s.text()}})
	} else {
		c.ends(2, "fileNotFound", message{{1, "path", p}})
	}
	c.both(s, members{{"path", value{p}}})
}

func glob(s *source, c *call) {
	c.args = message{{1, "targetDirectory", s.path()}, {2, "globPattern", s.text()}}
	c.ends(1, "success", message{{1, "pattern", "*"}, {3, "files", list{s.path(), s.path()}}, {4, "totalFiles", int32(2)}, {5, "clientTruncated", true}})
	c.both(s, members{{"globPattern", value{s.text()}}})
}

func grep(s *source, c *call) {
	p := s.text()
	c.args = message{{1, "pattern", p}, {8, "caseInsensitive", true}, {14, "toolCallId", c.id}}
	match := message{{1, "lineNumber", int32(7)}, {2, "content", s.text()}, {4, "isContextLine", true}}
	found := message{{3, "content", message{{1, "matches", list{message{{1, "file", s.path()}, {2, "matches", list{match, match}}}}}, {2, "totalLines", int32(2)}}}}
	c.ends(1, "success", message{{1, "pattern", p}, {3, "outputMode", "content"}, {4, "workspaceResults", entries{{s.path(), found}}}})
	c.both(s, members{{"pattern", value{p}}})
}

func read(s *source, c *call) {
	p := s.path()
	c.args = message{{1, "path", p}, {2, "offset", int32(-5)}, {3, "limit", int32(10)}}
	body := s.text()
	if s.chance(20) {
		body = s.long()
	}
	if s.chance(70) {
		c.ends(1, "success", message{{1, "content", body}, {4, "totalLines", uint32(3)}, {5, "fileSize", uint32(1 << 31)}, {7, "path", p}, {8, "readRange", message{{1, "startLine", uint32(1)}, {2, "endLine", uint32(3)}}}})
	} else {
		c.ends(2, "error", message{{1, "errorMessage", s.text()}})
	}
	c.both(s, members{{"path", value{p}}})
	c.content = []piece{{text: body}}
}

func updateTodos(s *source, c *call) {
	todo := func() message {
		return message{{1, "id", s.mark()}, {2, "content", s.text()}, {3, "status", enum{2, "TO" + "DO_STATUS_IN_PROGRESS"}}, {4, "createdAt", int64(1_780_000_000_000)}, {6, "dependencies", list{"a", "b"}}}
	}
	c.args = message{{1, "todos", list{todo(), todo()}}, {2, "merge", true}}
	c.ends(1, "success", message{{1, "todos", list{todo()}}, {2, "totalCount", int32(1)}})
	c.both(s, members{{"merge", value{true}}})
}

func edit(s *source, c *call) {
	p := s.path()
	c.args = message{{1, "path", p}, {6, "streamContent", s.text()}}
	if s.chance(70) {
		c.ends(1, "success", message{{1, "path", p}, {3, "linesAdded", int32(2)}, {5, "diffString", s.text()}, {6, "beforeFullFileContent", s.text()}, {7, "afterFullFileContent", s.text()}, {8, "message", s.text()}})
	} else {
		c.ends(7, "error", message{{1, "path", p}, {2, "error", s.text()}, {5, "modelVisibleError", s.text()}})
	}
	c.both(s, members{{"path", value{p}}, {"old_string", value{s.text()}}})
}

func lints(s *source, c *call) {
	c.args = message{{1, "paths", list{s.path(), s.path()}}}
	c.ends(2, "error", message{{1, "errorMessage", s.text()}})
	c.both(s, members{{"paths", value{[]value{{s.path()}}}}})
}

func mcp(s *source, c *call) {
	tree := value{members{{"text", value{s.text()}}, {"n", value{1.5}}, {"list", value{[]value{{nil}, {true}, {3.0}, {members{}}}}}}}
	c.args = message{{1, "name", "server-tool"}, {2, "args", entries{{"tree", tree}, {"", value{false}}}}, {3, "toolCallId", c.id}, {4, "providerIdentifier", s.text()}, {5, "toolName", "tool"}}
	image := []byte{0x89, 'P', 'N', 'G', byte(s.IntN(256)), 0, 255}
	text := s.text()
	c.ends(1, "success", message{{1, "content", list{message{{1, "text", message{{1, "text", text}}}}, message{{2, "image", message{{1, "data", image}, {2, "mimeType", "image/png"}}}}}},
		{2, "isError", false}, {3, "structuredContent", tagged{tree.v.(members)}}})
	c.both(s, tree.v.(members))
	c.content = []piece{{text: text}, {image: image, mime: "image/png"}}
}

func webSearch(s *source, c *call) {
	c.args = message{{1, "searchTerm", s.text()}, {2, "toolCallId", c.id}}
	c.ends(3, "rejected", message{{1, "reason", s.text()}})
	c.both(s, members{{"search_term", value{s.text()}}})
}

func ask(s *source, c *call) {
	c.args = message{{1, "title", s.text()}, {2, "questions", list{message{{1, "id", "q"}, {2, "prompt", s.text()}, {3, "options", list{message{{1, "id", "o"}, {2, "label", s.text()}}}}, {4, "allowMultiple", true}}}}}
	c.ends(4, "async", message{})
	c.both(s, members{{"title", value{s.text()}}})
}

func await(s *source, c *call) {
	c.args = message{{1, "taskId", s.text()}, {2, "blockUntilMs", uint32(5)}}
	c.ends(4, "success", message{{2, "stillRunning", message{{1, "taskId", s.text()}, {2, "runtimeMs", uint64(1) << 62}}}})
	c.both(s, members{{"taskId", value{s.text()}}})
}

// unheardOf is newer than any table: only its bytes are there.
func unheardOf(s *source, c *call) {
	c.args = message{{1, "#1", s.text()}, {9, "#9", uint64(5)}}
	c.ends(1, "", message{{1, "#1", s.text()}})
	c.both(s, members{{"anything", value{s.text()}}})
}

// both fills in what the model and the events say, where that is plain.
func (c *call) both(s *source, input members) {
	c.input = value{append(input, member{"explanation", value{s.of(halves(), 3)}})}.json()
	c.eventArgs = value{input}.json()
	c.content = []piece{{text: s.of(halves(), 3)}}
	c.eventValue = value{members{{"note", value{s.text()}}}}.json()
}

// tagged is a google.protobuf.Struct.
type tagged struct{ members }
