// Command agent is the part of a node agent that clients stream with, on the library that node agents use. It runs
// commands as processes of this machine, and forwards to its ports. It prints the address that it listens on.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

const (
	idleTimeout     = 4 * time.Hour
	creationTimeout = 30 * time.Second
	// The only container in which something runs.
	container = "main"
)

func main() {
	cert := flag.String("cert", "", "certificate of the agent")
	key := flag.String("key", "", "its key")
	callers := flag.String("callers", "", "authority of those who may ask")
	flag.Parse()
	authority, err := os.ReadFile(*callers)
	check(err)
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		log.Fatal("no authority in ", *callers)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Println(listener.Addr().String())
	server := &http.Server{
		Handler: http.HandlerFunc(serve),
		TLSConfig: &tls.Config{
			ClientCAs:  pool,
			ClientAuth: tls.RequireAndVerifyClientCert,
			// Another version of HTTP has no upgrades.
			NextProtos: []string{"http/1.1"},
		},
	}
	check(server.ServeTLS(listener, *cert, *key))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func serve(w http.ResponseWriter, req *http.Request) {
	parts := strings.Split(strings.TrimPrefix(req.URL.Path, "/"), "/")
	if len(parts) < 3 {
		http.NotFound(w, req)
		return
	}
	what, pod := parts[0], parts[2]
	log.Print(req.Method, " ", what, " upgrade=", req.Header.Get("Upgrade"))
	if what == "portForward" {
		options, err := portforward.NewV4Options(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, req, runtime{}, pod, "", options, idleTimeout, creationTimeout,
			portforward.SupportedProtocols)
		return
	}
	if len(parts) < 4 || parts[3] != container {
		http.Error(w, fmt.Sprintf("container not found (%q)", parts[len(parts)-1]), http.StatusNotFound)
		return
	}
	if what == "containerLogs" {
		serveLog(w, req)
		return
	}
	options, err := remotecommand.NewOptions(req)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	protocols := remotecommand.SupportedStreamingProtocols
	switch what {
	case "exec":
		remotecommand.ServeExec(w, req, runtime{}, pod, "", container, req.Form["command"], options, idleTimeout,
			creationTimeout, protocols)
	case "attach":
		remotecommand.ServeAttach(w, req, runtime{}, pod, "", container, options, idleTimeout, creationTimeout, protocols)
	default:
		http.NotFound(w, req)
	}
}

// serveLog writes one line, and with `follow` one more each 100 ms until the reader leaves.
func serveLog(w http.ResponseWriter, req *http.Request) {
	fmt.Fprintln(w, "line 0")
	for i := 1; req.FormValue("follow") == "true"; i++ {
		w.(http.Flusher).Flush()
		select {
		case <-req.Context().Done():
			log.Print("log over")
			return
		case <-time.After(100 * time.Millisecond):
			fmt.Fprintln(w, "line", i)
		}
	}
}

// runtime stands for the runtime of containers.
type runtime struct{}

func (runtime) ExecInContainer(_ context.Context, _, _, _ string, command []string, in io.Reader, out, err io.WriteCloser,
	tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	return run(command, in, out, err, tty, resize)
}

func (runtime) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, err io.WriteCloser, tty bool,
	resize <-chan remotecommand.TerminalSize) error {
	return run([]string{"sh", "-c", "echo attached; exec cat"}, in, out, err, tty, resize)
}

func (runtime) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	target, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	defer target.Close()
	done := make(chan struct{})
	go func() {
		_, _ = io.Copy(stream, target)
		close(done)
	}()
	_, _ = io.Copy(target, stream)
	_ = target.(*net.TCPConn).CloseWrite()
	<-done
	return nil
}

func run(command []string, in io.Reader, out, errOut io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	if len(command) == 0 {
		return errors.New("no command")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm")
	var err error
	if tty {
		err = runOnTerminal(cmd, in, out, resize)
	} else {
		err = runOnPipes(cmd, in, out, errOut)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return utilexec.CodeExitError{Err: err, Code: exit.ExitCode()}
	}
	return err
}

func runOnPipes(cmd *exec.Cmd, in io.Reader, out, errOut io.WriteCloser) error {
	if out != nil {
		cmd.Stdout = out
	}
	if errOut != nil {
		cmd.Stderr = errOut
	}
	if in != nil {
		// Not by cmd.Stdin: the end of the command must not wait for the end of its input.
		pipe, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(pipe, in)
			_ = pipe.Close()
		}()
	}
	return cmd.Run()
}

func runOnTerminal(cmd *exec.Cmd, in io.Reader, out io.WriteCloser, resize <-chan remotecommand.TerminalSize) error {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer master.Close()
	var unlocked, number int32
	if err := control(master, syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked)); err != nil {
		return err
	}
	if err := control(master, syscall.TIOCGPTN, unsafe.Pointer(&number)); err != nil {
		return err
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	slave.Close()
	if err != nil {
		return err
	}
	go func() {
		for size := range resize {
			dimensions := [4]uint16{size.Height, size.Width}
			_ = control(master, syscall.TIOCSWINSZ, unsafe.Pointer(&dimensions))
		}
	}()
	if in != nil {
		go func() { _, _ = io.Copy(master, in) }()
	}
	copied := make(chan struct{})
	go func() {
		if out != nil {
			_, _ = io.Copy(out, master)
		}
		close(copied)
	}()
	err = cmd.Wait()
	<-copied
	return err
}

func control(file *os.File, request uintptr, argument unsafe.Pointer) error {
	_, _, code := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), request, uintptr(argument))
	if code != 0 {
		return code
	}
	return nil
}
