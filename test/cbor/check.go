package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// wire notes the media types of all requests and answers.
type wire struct {
	http.RoundTripper
	lock sync.Mutex
	seen map[string]int
}

func (w *wire) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.RoundTripper.RoundTrip(request)
	if err == nil {
		w.lock.Lock()
		defer w.lock.Unlock()
		w.seen["sent "+request.Header.Get("Content-Type")]++
		w.seen["answered "+response.Header.Get("Content-Type")]++
	}
	return response, err
}

// onlyCBOR fails when something else than CBOR and patches in JSON was on the wire since the last call.
func (w *wire) onlyCBOR(what string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for types := range w.seen {
		media := strings.SplitN(types, " ", 2)[1]
		if media != "" && !strings.Contains(media, "cbor") && !strings.HasSuffix(media, "-patch+json") {
			must(what, fmt.Errorf("on the wire: %v", w.seen))
		}
	}
	ok(fmt.Sprintf("%s: %v", what, w.seen))
	w.seen = map[string]int{}
}

func next(what string, events watch.Interface, wanted watch.EventType) runtime.Object {
	select {
	case event, open := <-events.ResultChan():
		expect(what, open && event.Type == wanted, event)
		return event.Object
	case <-time.After(30 * time.Second):
		must(what, fmt.Errorf("no event"))
	}
	return nil
}

func check(kubeconfig string) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must("kubeconfig", err)
	seen := &wire{seen: map[string]int{}}
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		seen.RoundTripper = inner
		return seen
	})
	// Of itself, the typed client prefers protobuf to both.
	preferring := rest.CopyConfig(config)
	preferring.ContentType = runtime.ContentTypeCBOR
	preferring.AcceptContentTypes = "application/json;q=0.9,application/cbor;q=1"
	typed, err := kubernetes.NewForConfig(preferring)
	must("typed client", err)
	untyped, err := dynamic.NewForConfig(config)
	must("dynamic client", err)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	checkTyped(ctx, typed)
	seen.onlyCBOR("typed client")
	checkDynamic(ctx, untyped)
	seen.onlyCBOR("dynamic client")
	checkInformer(ctx, typed)
	seen.onlyCBOR("informer")
}

func checkTyped(ctx context.Context, client kubernetes.Interface) {
	secrets := client.CoreV1().Secrets("default")
	labels := map[string]string{"of": "typed"}
	raw := []byte{0, 1, 0xff}
	made, err := secrets.Create(ctx, &core.Secret{ObjectMeta: meta.ObjectMeta{Name: "typed", Labels: labels}, Data: map[string][]byte{"raw": raw}}, meta.CreateOptions{})
	must("create", err)
	expect("bytes", string(made.Data["raw"]) == string(raw), made.Data)
	_, err = secrets.Create(ctx, made, meta.CreateOptions{})
	expect("create with a version", err != nil)
	made.ResourceVersion = ""
	_, err = secrets.Create(ctx, made, meta.CreateOptions{})
	expect("create twice", errors.IsAlreadyExists(err), err)
	got, err := secrets.Get(ctx, "typed", meta.GetOptions{})
	must("get", err)
	expect("get", got.UID == made.UID && string(got.Data["raw"]) == string(raw), got)
	_, err = secrets.Get(ctx, "missing", meta.GetOptions{})
	expect("get what is missing", errors.IsNotFound(err), err)
	stale := got.DeepCopy()
	events, err := secrets.Watch(ctx, meta.ListOptions{LabelSelector: "of=typed", ResourceVersion: got.ResourceVersion})
	must("watch", err)
	defer events.Stop()
	got.StringData = map[string]string{"text": "é"}
	changed, err := secrets.Update(ctx, got, meta.UpdateOptions{})
	must("update", err)
	expect("update", string(changed.Data["text"]) == "é", changed.Data)
	stale.Labels["x"] = "y"
	_, err = secrets.Update(ctx, stale, meta.UpdateOptions{})
	expect("update of an old state", errors.IsConflict(err), err)
	seen := next("watch", events, watch.Modified).(*core.Secret)
	expect("watch", seen.ResourceVersion == changed.ResourceVersion && string(seen.Data["raw"]) == string(raw), seen)
	for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
		patched, err := secrets.Patch(ctx, "typed", kind, []byte(`{"metadata":{"annotations":{"a":"`+string(kind)+`"}}}`), meta.PatchOptions{})
		must("patch", err)
		expect("patch", patched.Annotations["a"] == string(kind), patched)
	}
	applied, err := client.CoreV1().ConfigMaps("default").Apply(ctx, applycore.ConfigMap("applied", "default").WithData(map[string]string{"a": "b"}).WithBinaryData(map[string][]byte{"raw": raw}), meta.ApplyOptions{FieldManager: "check"})
	must("apply", err)
	expect("apply", applied.Data["a"] == "b" && string(applied.BinaryData["raw"]) == string(raw), applied)
	_, err = client.CoreV1().ConfigMaps("default").Apply(ctx, applycore.ConfigMap("applied", "default").WithData(map[string]string{"a": "c"}), meta.ApplyOptions{FieldManager: "other"})
	expect("apply what is another's", errors.IsConflict(err), err)
	pods := client.CoreV1().Pods("default")
	grace := int64(0)
	pod, err := pods.Create(ctx, &core.Pod{ObjectMeta: meta.ObjectMeta{GenerateName: "typed-", Labels: labels}, Spec: core.PodSpec{TerminationGracePeriodSeconds: &grace, Containers: []core.Container{{
		Name: "c", Image: "i", Resources: core.ResourceRequirements{Requests: core.ResourceList{"cpu": resource.MustParse("1.500")}},
		ReadinessProbe: &core.Probe{ProbeHandler: core.ProbeHandler{HTTPGet: &core.HTTPGetAction{Port: intstr.FromInt32(80)}}},
		LivenessProbe:  &core.Probe{ProbeHandler: core.ProbeHandler{HTTPGet: &core.HTTPGetAction{Port: intstr.FromString("web")}}},
		Ports:          []core.ContainerPort{{Name: "web", ContainerPort: 80}},
	}}}}, meta.CreateOptions{})
	must("create a pod", err)
	container := pod.Spec.Containers[0]
	expect("quantity", container.Resources.Requests.Cpu().MilliValue() == 1500, container.Resources)
	expect("port", container.ReadinessProbe.HTTPGet.Port.IntValue() == 80 && container.LivenessProbe.HTTPGet.Port.StrVal == "web", container)
	renewed := meta.NewMicroTime(time.Date(2030, 1, 2, 3, 4, 5, 678901000, time.UTC))
	lease, err := client.CoordinationV1().Leases("default").Create(ctx, &coordination.Lease{ObjectMeta: meta.ObjectMeta{Name: "typed"}, Spec: coordination.LeaseSpec{RenewTime: &renewed}}, meta.CreateOptions{})
	must("create a lease", err)
	expect("time", lease.Spec.RenewTime.Time.Equal(renewed.Time) && !lease.CreationTimestamp.IsZero(), lease)
	_, err = pods.Create(ctx, &core.Pod{ObjectMeta: meta.ObjectMeta{Name: "bad"}}, meta.CreateOptions{})
	expect("create what is invalid", errors.IsInvalid(err), err)
	scaled, err := client.CoreV1().ReplicationControllers("default").GetScale(ctx, "missing", meta.GetOptions{})
	expect("scale of what is missing", errors.IsNotFound(err), scaled, err)
	page, err := secrets.List(ctx, meta.ListOptions{LabelSelector: "of=typed", Limit: 1})
	must("list", err)
	expect("list", len(page.Items) == 1 && string(page.Items[0].Data["raw"]) == string(raw), page)
	uid := made.UID
	must("delete", secrets.Delete(ctx, "typed", meta.DeleteOptions{Preconditions: &meta.Preconditions{UID: &uid}}))
	must("delete all", pods.DeleteCollection(ctx, meta.DeleteOptions{GracePeriodSeconds: &grace}, meta.ListOptions{LabelSelector: "of=typed"}))
	left, err := pods.List(ctx, meta.ListOptions{LabelSelector: "of=typed"})
	must("list", err)
	expect("delete all", len(left.Items) == 0, left.Items)
	next("watch", events, watch.Modified)
	next("watch", events, watch.Modified)
	next("watch", events, watch.Deleted)
}

func checkDynamic(ctx context.Context, client dynamic.Interface) {
	gears := client.Resource(schema.GroupVersionResource{Group: "cbor.example", Version: "v1", Resource: "gears"}).Namespace("default")
	gear := func(spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cbor.example/v1", "kind": "Gear", "metadata": map[string]any{"name": "dynamic"}, "spec": spec}}
	}
	made, err := gears.Create(ctx, gear(map[string]any{"size": 1.5, "teeth": int64(1) << 60, "note": "AQID"}), meta.CreateOptions{})
	must("create", err)
	size, isFloat, _ := unstructured.NestedFloat64(made.Object, "spec", "size")
	teeth, isInt, _ := unstructured.NestedInt64(made.Object, "spec", "teeth")
	note, _, _ := unstructured.NestedString(made.Object, "spec", "note")
	expect("numbers", isFloat && size == 1.5 && isInt && teeth == 1<<60 && note == "AQID", made.Object)
	events, err := gears.Watch(ctx, meta.ListOptions{ResourceVersion: made.GetResourceVersion()})
	must("watch", err)
	defer events.Stop()
	must("set", unstructured.SetNestedField(made.Object, 2.5, "spec", "size"))
	changed, err := gears.Update(ctx, made, meta.UpdateOptions{})
	must("update", err)
	seen := next("watch", events, watch.Modified).(*unstructured.Unstructured)
	expect("watch", seen.GetResourceVersion() == changed.GetResourceVersion(), seen)
	applied, err := gears.Apply(ctx, "dynamic", gear(map[string]any{"note": "applied"}), meta.ApplyOptions{FieldManager: "check", Force: true})
	must("apply", err)
	note, _, _ = unstructured.NestedString(applied.Object, "spec", "note")
	expect("apply", note == "applied", applied.Object)
	_, err = gears.Patch(ctx, "dynamic", types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/size","value":3}]`), meta.PatchOptions{})
	must("patch", err)
	list, err := gears.List(ctx, meta.ListOptions{})
	must("list", err)
	expect("list", len(list.Items) == 1 && list.Items[0].GetKind() == "Gear", list)
	_, err = gears.Create(ctx, gear(map[string]any{"size": "big"}), meta.CreateOptions{})
	expect("create what is invalid", errors.IsInvalid(err) || errors.IsAlreadyExists(err), err)
	unknown := gear(map[string]any{"colour": "red"})
	unknown.SetName("unknown")
	_, err = gears.Create(ctx, unknown, meta.CreateOptions{FieldValidation: meta.FieldValidationStrict})
	expect("create with unknown fields", errors.IsBadRequest(err), err)
	must("delete all", gears.DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{}))
	next("watch", events, watch.Modified)
	next("watch", events, watch.Modified)
	next("watch", events, watch.Deleted)
	secret, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default").Get(ctx, "applied", meta.GetOptions{})
	must("get", err)
	raw, _, _ := unstructured.NestedString(secret.Object, "binaryData", "raw")
	expect("bytes", raw == "AAH/", secret.Object)
}

func checkInformer(ctx context.Context, client kubernetes.Interface) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace("default"))
	informer := factory.Core().V1().ConfigMaps()
	added := make(chan string, 100)
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) { added <- object.(*core.ConfigMap).Name }})
	must("informer", err)
	factory.Start(ctx.Done())
	expect("informer", cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced))
	found, err := informer.Lister().ConfigMaps("default").Get("applied")
	must("informer", err)
	expect("informer", found.Data["a"] == "b", found)
	_, err = client.CoreV1().ConfigMaps("default").Create(ctx, &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "informed"}}, meta.CreateOptions{})
	must("create", err)
	for {
		select {
		case name := <-added:
			if name == "informed" {
				return
			}
		case <-ctx.Done():
			must("informer", ctx.Err())
		}
	}
}
