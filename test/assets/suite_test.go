// A test suite as operators have one: it starts control planes with envtest, without a word about Plinth.
package suite

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

var existing = os.Getenv("USE_EXISTING_CLUSTER") == "true"

func widgets() *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.suite.example"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "suite.example",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema:       &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

func denying() *admissionv1.ValidatingWebhookConfiguration {
	path, fail, none := "/deny", admissionv1.Fail, admissionv1.SideEffectClassNone
	return &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "suite"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "secrets.suite.example", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: "hook", Namespace: "default", Path: &path}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}},
			}},
		}},
	}
}

func start(t *testing.T) (*envtest.Environment, *rest.Config, client.Client) {
	t.Helper()
	env := &envtest.Environment{
		CRDInstallOptions:     envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{widgets()}, CleanUpAfterUse: true},
		WebhookInstallOptions: envtest.WebhookInstallOptions{ValidatingWebhooks: []*admissionv1.ValidatingWebhookConfiguration{denying()}},
	}
	begun := time.Now()
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("started in %v", time.Since(begun).Round(time.Millisecond))
	t.Cleanup(func() {
		begun := time.Now()
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
		t.Logf("stopped in %v", time.Since(begun).Round(time.Millisecond))
	})
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return env, config, c
}

func widget(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "suite.example", Version: "v1", Kind: "Widget"})
	object.SetNamespace("default")
	object.SetName(name)
	return object
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if check() {
			return
		}
	}
	t.Fatalf("not in time: %s", what)
}

func TestReconciles(t *testing.T) {
	t.Parallel()
	env, config, c := start(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hooks := env.WebhookInstallOptions
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{
			Host: hooks.LocalServingHost, Port: hooks.LocalServingPort, CertDir: hooks.LocalServingCertDir,
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	manager.GetWebhookServer().Register("/deny", &webhook.Admission{Handler: admission.HandlerFunc(
		func(context.Context, admission.Request) admission.Response {
			return admission.Denied("no secrets here")
		},
	)})
	err = ctrl.NewControllerManagedBy(manager).For(widget("")).Complete(reconcile.Func(
		func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			object := widget(request.Name)
			if err := manager.GetClient().Get(ctx, request.NamespacedName, object); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			if _, found, _ := unstructured.NestedString(object.Object, "status", "seen"); found {
				return reconcile.Result{}, nil
			}
			_ = unstructured.SetNestedField(object.Object, "yes", "status", "seen")
			return reconcile.Result{}, manager.GetClient().Status().Update(ctx, object)
		},
	))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	if err := c.Create(ctx, widget("one")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the status of the widget", func() bool {
		object := widget("one")
		err := c.Get(ctx, client.ObjectKeyFromObject(object), object)
		seen, _, _ := unstructured.NestedString(object.Object, "status", "seen")
		return err == nil && seen == "yes"
	})
	eventually(t, "the refusal of the webhook", func() bool {
		err := c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}})
		return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "no secrets here")
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestFindsNoObjectsOfLoops(t *testing.T) {
	if existing {
		t.Skip("control loops run in this cluster")
	}
	t.Parallel()
	_, _, c := start(t)
	ctx := context.Background()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	if err := c.Create(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	accounts, maps := &corev1.ServiceAccountList{}, &corev1.ConfigMapList{}
	if err := c.List(ctx, accounts); err != nil || len(accounts.Items) != 0 {
		t.Error(accounts.Items, err)
	}
	if err := c.List(ctx, maps, client.InNamespace("shop")); err != nil || len(maps.Items) != 0 {
		t.Error(maps.Items, err)
	}
	if err := c.Delete(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil || namespace.Status.Phase != corev1.NamespaceTerminating {
		t.Error(namespace.Status, err)
	}
}

func TestKnowsUsers(t *testing.T) {
	if existing {
		t.Skip("envtest makes users of its own clusters only")
	}
	t.Parallel()
	env, _, c := start(t)
	ctx := context.Background()
	alice, err := env.AddUser(envtest.User{Name: "alice", Groups: []string{"devs"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	hers, err := client.New(alice.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pods := &corev1.PodList{}
	if err := hers.List(ctx, pods, client.InNamespace("default")); !apierrors.IsForbidden(err) {
		t.Error("alice may list pods", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "devs"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: "devs"}},
	}
	if err := c.Create(ctx, binding); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the rights of alice", func() bool { return hers.List(ctx, pods, client.InNamespace("default")) == nil })
	_, err = alice.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
}
