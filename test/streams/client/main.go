// Command client streams with a pod as programs in Go do. It says what worked, and ends with 1 at the first fault.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

const (
	namespace   = "default"
	pod         = "pod"
	container   = "main"
	largeBytes  = 50 << 20
	connections = 100
)

var (
	config *rest.Config
	client *kubernetes.Clientset
)

type executorMaker func(*url.URL) (remotecommand.Executor, error)

func overSpdy(target *url.URL) (remotecommand.Executor, error) {
	return remotecommand.NewSPDYExecutor(config, http.MethodPost, target)
}

func overWebSocket(target *url.URL) (remotecommand.Executor, error) {
	return remotecommand.NewWebSocketExecutor(config, http.MethodGet, target.String())
}

func withFallback(target *url.URL) (remotecommand.Executor, error) {
	first, err := overWebSocket(target)
	if err != nil {
		return nil, err
	}
	second, err := overSpdy(target)
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(first, second, httpstream.IsUpgradeFailure)
}

func main() {
	var err error
	config, err = clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	client, err = kubernetes.NewForConfig(config)
	must(err)
	for name, executor := range map[string]executorMaker{"SPDY": overSpdy, "WebSocket": overWebSocket, "fallback": withFallback} {
		commands(name, executor)
		terminal(name, executor)
		large(name, executor)
		attached(name, executor)
	}
	for _, isTunnelled := range []bool{false, true} {
		forward(isTunnelled)
	}
	follow()
}

func must(err error) {
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
}

func expect(isTrue bool, format string, values ...any) {
	if !isTrue {
		log.Output(2, fmt.Sprintf(format, values...))
		os.Exit(1)
	}
}

func target(subresource string, options any) *url.URL {
	request := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(namespace).Name(pod).SubResource(subresource)
	switch typed := options.(type) {
	case *corev1.PodExecOptions:
		request.VersionedParams(typed, scheme.ParameterCodec)
	case *corev1.PodAttachOptions:
		request.VersionedParams(typed, scheme.ParameterCodec)
	}
	return request.URL()
}

func execute(make executorMaker, options *corev1.PodExecOptions, streams remotecommand.StreamOptions) error {
	options.Container = container
	executor, err := make(target("exec", options))
	must(err)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return executor.StreamWithContext(ctx, streams)
}

// commands shows outputs, inputs and exit codes.
func commands(name string, make executorMaker) {
	var out, errOut bytes.Buffer
	options := &corev1.PodExecOptions{Command: []string{"sh", "-c", "echo out; echo err >&2; exit 7"}, Stdout: true, Stderr: true}
	err := execute(make, options, remotecommand.StreamOptions{Stdout: &out, Stderr: &errOut})
	var exit utilexec.CodeExitError
	expect(errors.As(err, &exit) && exit.Code == 7, "%s: exit code: %v", name, err)
	expect(out.String() == "out\n" && errOut.String() == "err\n", "%s: %q %q", name, out.String(), errOut.String())
	out.Reset()
	options = &corev1.PodExecOptions{Command: []string{"cat"}, Stdin: true, Stdout: true}
	must(execute(make, options, remotecommand.StreamOptions{Stdin: strings.NewReader("input"), Stdout: &out}))
	expect(out.String() == "input", "%s: cat gave %q", name, out.String())
	options = &corev1.PodExecOptions{Command: []string{"/absent"}, Stdout: true}
	err = execute(make, options, remotecommand.StreamOptions{Stdout: &out})
	expect(err != nil && strings.Contains(err.Error(), "no such file"), "%s: absent command: %v", name, err)
	fmt.Println("ok commands", name)
}

type sizes chan remotecommand.TerminalSize

func (s sizes) Next() *remotecommand.TerminalSize {
	size, isOpen := <-s
	if !isOpen {
		return nil
	}
	return &size
}

// terminal shows that the program in the container learns of the size of the terminal, also of a later one.
func terminal(name string, make2 executorMaker) {
	queue := make(sizes, 2)
	queue <- remotecommand.TerminalSize{Width: 81, Height: 25}
	input, typed := io.Pipe()
	output, printed := io.Pipe()
	done := make(chan error, 1)
	go func() {
		options := &corev1.PodExecOptions{
			Command: []string{"sh", "-c", "while read word; do stty size; done"}, Stdin: true, Stdout: true, TTY: true,
		}
		streams := remotecommand.StreamOptions{Stdin: input, Stdout: printed, Tty: true, TerminalSizeQueue: queue}
		err := execute(make2, options, streams)
		printed.Close()
		done <- err
	}()
	lines := make(chan string, 1000)
	go func() {
		var text strings.Builder
		buffer := make([]byte, 4096)
		for {
			n, err := output.Read(buffer)
			text.Write(buffer[:n])
			lines <- text.String()
			if err != nil {
				return
			}
		}
	}()
	await := func(wanted string) {
		limit := time.After(20 * time.Second)
		for {
			select {
			case text := <-lines:
				if strings.Contains(text, wanted) {
					return
				}
			case <-time.After(200 * time.Millisecond):
				_, _ = typed.Write([]byte("again\n"))
			case <-limit:
				expect(false, "%s: no %q", name, wanted)
			}
		}
	}
	await("25 81")
	queue <- remotecommand.TerminalSize{Width: 132, Height: 43}
	await("43 132")
	close(queue)
	go func() { _, _ = typed.Write([]byte{4}) }()
	must(<-done)
	fmt.Println("ok terminal", name)
}

// large sends and gets much.
func large(name string, make2 executorMaker) {
	data := make([]byte, largeBytes)
	_, _ = rand.Read(data)
	wanted := fmt.Sprintf("%x", sha256.Sum256(data))
	var out bytes.Buffer
	begun := time.Now()
	options := &corev1.PodExecOptions{Command: []string{"sha256sum"}, Stdin: true, Stdout: true}
	must(execute(make2, options, remotecommand.StreamOptions{Stdin: bytes.NewReader(data), Stdout: &out}))
	expect(strings.HasPrefix(out.String(), wanted), "%s: other bytes arrived", name)
	sent := time.Since(begun)
	file := fmt.Sprintf("%s/large", os.Args[2])
	must(os.WriteFile(file, data, 0o600))
	digest := sha256.New()
	begun = time.Now()
	options = &corev1.PodExecOptions{Command: []string{"cat", file}, Stdout: true}
	must(execute(make2, options, remotecommand.StreamOptions{Stdout: digest}))
	expect(fmt.Sprintf("%x", digest.Sum(nil)) == wanted, "%s: other bytes came back", name)
	fmt.Printf("ok large %s: %d MiB sent in %v, got in %v\n", name, largeBytes>>20, sent.Round(time.Millisecond),
		time.Since(begun).Round(time.Millisecond))
}

func attached(name string, make2 executorMaker) {
	executor, err := make2(target("attach", &corev1.PodAttachOptions{Container: container, Stdin: true, Stdout: true}))
	must(err)
	var out bytes.Buffer
	must(executor.StreamWithContext(context.Background(),
		remotecommand.StreamOptions{Stdin: strings.NewReader("typed\n"), Stdout: &out}))
	expect(out.String() == "attached\ntyped\n", "%s: attach gave %q", name, out.String())
	fmt.Println("ok attach", name)
}

// forward sends through many connections at once, each with bytes of its own, and to a port where nobody listens.
func forward(isTunnelled bool) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go func() {
		for {
			peer, err := echo.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(peer, peer)
				_ = peer.Close()
			}()
		}
	}()
	address := target("portforward", nil)
	transport, upgrader, err := spdy.RoundTripperFor(config)
	must(err)
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, address)
	if isTunnelled {
		dialer, err = portforward.NewSPDYOverWebsocketDialer(address, config)
		must(err)
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	var mutex sync.Mutex
	var faults string
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, err error, _ string, _ ...any) {
		mutex.Lock()
		defer mutex.Unlock()
		faults += err.Error()
	}}
	ports := []string{fmt.Sprintf("0:%d", echo.Addr().(*net.TCPAddr).Port), "0:1"}
	forwarder, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, ports, stop, ready, io.Discard, io.Discard)
	must(err)
	ended := make(chan error, 1)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-ended:
		must(fmt.Errorf("tunnelled=%v: %w", isTunnelled, err))
	}
	forwarded, err := forwarder.GetPorts()
	must(err)
	begun := time.Now()
	var group sync.WaitGroup
	for i := range connections {
		group.Add(1)
		go func() {
			defer group.Done()
			local, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", forwarded[0].Local))
			must(err)
			defer local.Close()
			data := bytes.Repeat([]byte{byte(i)}, 200_000)
			go func() {
				_, _ = local.Write(data)
				_ = local.(*net.TCPConn).CloseWrite()
			}()
			back, err := io.ReadAll(local)
			must(err)
			expect(bytes.Equal(back, data), "tunnelled=%v: connection %d got %d bytes", isTunnelled, i, len(back))
		}()
	}
	group.Wait()
	local, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", forwarded[1].Local))
	must(err)
	_, _ = io.ReadAll(local)
	local.Close()
	close(stop)
	<-ended
	mutex.Lock()
	defer mutex.Unlock()
	expect(strings.Contains(faults, "connection refused"), "tunnelled=%v: %q", isTunnelled, faults)
	fmt.Printf("ok port-forward tunnelled=%v: %d connections in %v\n", isTunnelled, connections,
		time.Since(begun).Round(time.Millisecond))
}

func follow() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	text, err := client.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Follow: true}).Stream(ctx)
	must(err)
	buffer := make([]byte, 0, 4096)
	for !bytes.Contains(buffer, []byte("line 5\n")) {
		chunk := make([]byte, 256)
		n, err := text.Read(chunk)
		must(err)
		buffer = append(buffer, chunk[:n]...)
	}
	text.Close()
	_, err = client.CoreV1().Pods(namespace).Get(ctx, pod, metav1.GetOptions{})
	must(err)
	fmt.Println("ok logs")
}
