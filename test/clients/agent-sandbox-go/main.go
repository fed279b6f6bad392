// Calls a runtime of agent-sandbox with its client for Go, and its processes with grpc-go: `REST_PORT GRPC_PORT`.
//
// KUBECONFIG leads to the API of Kubernetes. Each result is printed as a line of JSON with its name.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/agent-sandbox/clients/go/sandbox"
	process "sigs.k8s.io/agent-sandbox/packages/sandboxd/spec/process/v1"
)

const commandID = "boxkeep-command-id"

type client struct{ process.ProcessServiceClient }

func main() {
	rest, processes := port(os.Args[1]), port(os.Args[2])
	tell("the client for Go", published(rest, processes))
	address := fmt.Sprintf("127.0.0.1:%d", processes)
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err)
	defer connection.Close()
	calls := client{process.NewProcessServiceClient(connection)}
	tell("execute", calls.execute("echo out; echo err >&2; exit 3"))
	tell("start", calls.start(context.Background(), "echo out; echo err >&2; exit 4").rest())
	tell("stdin", calls.stdin())
	tell("a time limit", calls.timeLimit())
	tell("a deadline", calls.ends(context.WithTimeout(context.Background(), 3*time.Second)))
	cancelled, cancel := context.WithCancel(context.Background())
	tell("a cancel", calls.ends(cancelled, cancel, cancel))
	tell("64 MiB", len(calls.start(context.Background(), "head -c 67108864 /dev/zero").rest()["stdout"].(string)))
	tell("after it", calls.execute("echo out"))
}

// Every call of the published client, in its configuration for programs in the cluster.
func published(rest, processes int) any {
	ctx := context.Background()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(err)
	box, err := sandbox.New(ctx, sandbox.Options{
		WarmPoolName:     "pool",
		Runtime:          sandbox.RuntimeSandboxd,
		Connectivity:     sandbox.ConnectivityInClusterPodIP,
		SandboxdRESTPort: rest,
		SandboxdGRPCPort: processes,
		RestConfig:       config,
		Quiet:            true,
	})
	must(err)
	must(box.Open(ctx))
	run, err := box.Run(ctx, "echo out; echo err >&2; exit 3")
	must(err)
	must(box.Write(ctx, "a b/c#d.txt", []byte("text")))
	must(box.WriteReader(ctx, "e", strings.NewReader("stream")))
	read, err := box.Read(ctx, "a b/c#d.txt")
	must(err)
	list, err := box.List(ctx, "a b")
	must(err)
	isThere, err := box.Exists(ctx, "e")
	must(err)
	must(box.Delete(ctx, "a b", true))
	isLeft, err := box.Exists(ctx, "a b")
	must(err)
	must(box.Close(ctx))
	return []any{run.ExitCode, run.Stdout, run.Stderr, string(read), list[0].Name, list[0].Mode, isThere, isLeft}
}

func (c client) execute(script string) map[string]any {
	answer, err := c.Execute(context.Background(), &process.ExecuteRequest{Config: shell(script)})
	must(err)
	return map[string]any{"stdout": string(answer.Stdout), "stderr": string(answer.Stderr), "exit": answer.ExitCode}
}

// The process takes what is written to it, and ends at the end of its input.
func (c client) stdin() any {
	begun := c.start(context.Background(), "cat; echo end")
	write := func(request *process.WriteStdinRequest) {
		request.ProcessId = begun.pid
		_, err := c.WriteStdin(context.Background(), request)
		must(err)
	}
	write(&process.WriteStdinRequest{Payload: &process.WriteStdinRequest_Input{Input: []byte("one\n")}})
	echo, err := begun.stream.Recv()
	must(err)
	write(&process.WriteStdinRequest{Payload: &process.WriteStdinRequest_Eof{Eof: &emptypb.Empty{}}})
	return []any{string(echo.GetStdout()), begun.rest()}
}

// The answer has to be there before the client stops listening; a busy machine needs a longer limit for that.
func (c client) timeLimit() any {
	var code string
	for limit := 2 * time.Second; limit <= 16*time.Second; limit *= 2 {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		trailer := metadata.MD{}
		_, err := c.Execute(ctx, &process.ExecuteRequest{Config: shell("echo before; sleep 600")}, grpc.Trailer(&trailer))
		cancel()
		code = status.Code(err).String()
		for _, detail := range status.Convert(err).Details() {
			return []any{code, string(detail.(*process.ExecuteResponse).Stdout), len(trailer[commandID])}
		}
	}
	return code
}

// How a stream ends whose context ends, and whether its tree ends with it.
func (c client) ends(ctx context.Context, cancel context.CancelFunc, begin ...func()) any {
	defer cancel()
	begun := c.start(ctx, "sleep 600 & echo $!; sleep 600")
	printed, err := begun.stream.Recv()
	must(err)
	var child int
	fmt.Sscan(string(printed.GetStdout()), &child)
	for _, end := range begin {
		end()
	}
	_, err = begun.stream.Recv()
	return []any{status.Code(err).String(), isGone(int(begun.pid)), isGone(child)}
}

func isGone(pid int) bool {
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if syscall.Kill(pid, 0) == syscall.ESRCH {
			return true
		}
	}
	return false
}

type begun struct {
	stream process.ProcessService_StartClient
	pid    int32
}

func (c client) start(ctx context.Context, script string) begun {
	stream, err := c.Start(ctx, &process.StartRequest{Config: shell(script)})
	must(err)
	first, err := stream.Recv()
	must(err)
	return begun{stream, first.GetInit().GetProcessId()}
}

// Both outputs as a whole, and the exit code.
func (b begun) rest() map[string]any {
	var stdout, stderr []byte
	found := map[string]any{}
	for {
		event, err := b.stream.Recv()
		if err == io.EOF {
			found["stdout"], found["stderr"] = string(stdout), string(stderr)
			return found
		}
		must(err)
		stdout = append(stdout, event.GetStdout()...)
		stderr = append(stderr, event.GetStderr()...)
		if exit := event.GetExit(); exit != nil {
			found["exit"] = exit.ExitCode
		}
	}
}

func port(text string) int {
	number, err := strconv.Atoi(text)
	must(err)
	return number
}

func shell(script string) *process.ProcessConfig {
	return &process.ProcessConfig{Command: []string{"/bin/sh", "-c", script}}
}

func tell(name string, value any) {
	must(json.NewEncoder(os.Stdout).Encode([]any{name, value}))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
