"""Speaks to the server of the Model Context Protocol, as a client does: one line after another."""

import json
import os
import subprocess
import sys
import unittest

from . import support

PATHS = [str(support.INPUT_BOUND)]


class McpTest(unittest.TestCase):
    def setUp(self):
        self.server = subprocess.Popen(
            [sys.executable, "-m", "tfdata_doctor.mcp"],
            env={**os.environ, "PYTHONPATH": str(support.ROOT / "python")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self.addCleanup(self.stop)
        self.count = 0

    def stop(self):
        self.server.stdin.close()
        self.assertEqual(self.server.stdout.read(), "")
        self.assertEqual(self.server.wait(timeout=60), 0)
        self.server.stdout.close()

    def send(self, line):
        self.server.stdin.write(line + "\n")
        self.server.stdin.flush()

    def request(self, method, **parameters):
        self.count += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.count, "method": method, "params": parameters}))
        response = json.loads(self.server.stdout.readline())
        self.assertEqual(response["id"], self.count)
        return response

    def call(self, name, **arguments):
        result = self.request("tools/call", name=name, arguments=arguments)["result"]
        return result["content"][0]["text"], result

    def test_handshake(self):
        result = self.request("initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo={})["result"]
        self.assertEqual(result["protocolVersion"], "2025-03-26")
        self.assertEqual(result["serverInfo"]["name"], "tfdata-doctor")
        self.assertIn("tools", result["capabilities"])
        # A notification has no answer: the next line is that to the ping.
        self.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        self.assertEqual(self.request("ping")["result"], {})
        later = self.request("initialize", protocolVersion="2099-01-01")["result"]
        self.assertEqual(later["protocolVersion"], "2025-06-18")

    def test_tools_are_described(self):
        tools = {tool["name"]: tool for tool in self.request("tools/list")["result"]["tools"]}
        self.assertEqual(list(tools), ["diagnose", "whatif", "explain", "query"])
        for tool in tools.values():
            schema = tool["inputSchema"]
            self.assertLessEqual(set(schema["required"]), set(schema["properties"]))
            self.assertTrue(tool["description"].endswith("."))

    def test_diagnose(self):
        text, result = self.call("diagnose", paths=PATHS)
        self.assertTrue(text.startswith("INPUT-BOUND"))
        self.assertFalse(result["isError"])
        self.assertEqual(result["structuredContent"]["verdict"]["status"], "input_bound")

    def test_whatif(self):
        text, result = self.call("whatif", paths=PATHS, fix=["parallel_map:Map,p=2"])
        self.assertIn("steps/s", text)
        self.assertEqual(result["structuredContent"]["asked"]["fix"], "parallel_map:Map,p=2")

    def test_explain(self):
        self.assertIn("A map that the job waits for", self.call("explain", rule="sequential-map")[0])
        self.assertIn("FIRES", self.call("explain", rule="sequential-map", paths=PATHS)[0])

    def test_query(self):
        text, _ = self.call("query", sql="select verdict from traces", paths=PATHS)
        self.assertEqual(json.loads(text), {"verdict": "input_bound"})
        self.assertIn("iterators:", self.call("query")[0])
        text, _ = self.call("query", sql="select * from events", paths=PATHS)
        self.assertIn("more characters: ask for less", text)

    def test_errors_of_the_program_are_for_the_agent(self):
        text, result = self.call("diagnose", paths=["/nonexistent"])
        self.assertTrue(result["isError"])
        self.assertEqual(text, "/nonexistent: no such file or directory")

    def test_errors_of_the_protocol(self):
        self.assertEqual(self.request("resources/list")["error"]["code"], -32601)
        self.assertEqual(self.request("tools/call", name="rm")["error"]["code"], -32602)
        self.assertEqual(self.request("tools/call", name="diagnose", arguments={})["error"]["code"], -32602)
        unknown = self.request("tools/call", name="diagnose", arguments={"paths": PATHS, "output": "x"})
        self.assertEqual(unknown["error"]["code"], -32602)
        for line, code in (("{", -32700), ("[]", -32600), ('{"id": 1}', -32600)):
            self.send(line)
            self.assertEqual(json.loads(self.server.stdout.readline())["error"]["code"], code)


if __name__ == "__main__":
    unittest.main()
