// Runs a controller-runtime manager, unmodified, against the server of a kubeconfig: definition with two versions and a
// conversion webhook, admission webhooks, controller with finalizer and owner references, leader election. Prints a line
// per check; exit status 1 with the first that fails.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func must(what string, err error) {
	if err != nil {
		fmt.Printf("FAILED  %s: %v\n", what, err)
		os.Exit(1)
	}
}

func ok(what string) { fmt.Printf("ok      %s\n", what) }

// certificate writes a self-signed serving certificate for the loopback address.
func certificate(directory string) []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must("key", err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hooks"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must("certificate", err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	must("key", err)
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	must("write", os.WriteFile(filepath.Join(directory, "tls.crt"), certPEM, 0o600))
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	must("write", os.WriteFile(filepath.Join(directory, "tls.key"), keyPEM, 0o600))
	return certPEM
}

func freePort() int {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must("port", err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func main() {
	log.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must("kubeconfig", err)
	scheme := runtime.NewScheme()
	must("scheme", clientscheme.AddToScheme(scheme))
	must("scheme", apiextensions.AddToScheme(scheme))
	addToScheme(scheme)

	directory, err := os.MkdirTemp("", "hooks")
	must("folder", err)
	defer os.RemoveAll(directory)
	ca := certificate(directory)
	port := freePort()
	base := fmt.Sprintf("https://127.0.0.1:%d", port)

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	direct, err := client.New(config, client.Options{Scheme: scheme})
	must("client", err)
	establish(ctx, direct, definition(base+"/convert", ca))

	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, LeaderElection: true, LeaderElectionID: "widgets", LeaderElectionNamespace: "default",
		LeaderElectionReleaseOnCancel: true, Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: directory}),
	})
	must("manager", err)
	must("controller", ctrl.NewControllerManagedBy(manager).For(&Widget{}).Complete(&reconciler{manager.GetClient()}))
	must("webhooks", ctrl.NewWebhookManagedBy(manager, &Widget{}).WithDefaulter(defaulter{}).WithValidator(validator{}).Complete())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case <-manager.Elected():
		ok("leader election")
	case err := <-ended:
		must("manager", fmt.Errorf("it ended: %v", err))
	case <-time.After(30 * time.Second):
		must("leader election", fmt.Errorf("not elected after 30 s"))
	}
	scenario(ctx, direct, base, ca)
	stop()
	must("end of the manager", <-ended)
	ok("end of the manager")
}
