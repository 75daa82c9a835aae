// Lists every kind of the server of a kubeconfig as clients in Go do: typed in JSON and in protobuf where client-go knows the
// kind, dynamic in JSON and in CBOR. Prints a line per object: the reader, the resource, the object's uid and version, and a
// hash of its value (see hash.go). Exit status 1 when a list fails.
//
//	readers <kubeconfig>
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	v1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	aggregation "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

var (
	output = bufio.NewWriter(os.Stdout)
	failed = false
)

func fail(reader string, resource schema.GroupVersionResource, err error) {
	failed = true
	fmt.Fprintf(output, "FAILED\t%s\t%s\t%v\n", reader, resource, err)
}

func print(reader string, resource schema.GroupVersionResource, object v1.Object, value any) {
	fmt.Fprintf(output, "%s\t%s/%s/%s\t%s@%s\t%s\n", reader, resource.Group, resource.Version, resource.Resource,
		object.GetUID(), object.GetResourceVersion(), hashOf(value))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func main() {
	must(apiextensions.AddToScheme(scheme.Scheme))
	must(aggregation.AddToScheme(scheme.Scheme))
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	config.QPS = -1
	found, err := discovery.NewDiscoveryClientForConfig(config)
	must(err)
	_, lists, err := found.ServerGroupsAndResources()
	must(err)
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		must(err)
		for _, resource := range list.APIResources {
			if !slices.Contains(resource.Verbs, "list") || strings.Contains(resource.Name, "/") {
				continue
			}
			readKind(config, version.WithResource(resource.Name), version.WithKind(resource.Kind))
		}
	}
	must(output.Flush())
	if failed {
		os.Exit(1)
	}
}

func readKind(config *rest.Config, resource schema.GroupVersionResource, kind schema.GroupVersionKind) {
	for _, form := range []string{"json", "cbor"} {
		readDynamic(config, "go-dynamic-"+form, "application/"+form, resource)
	}
	if !scheme.Scheme.Recognizes(kind.GroupVersion().WithKind(kind.Kind + "List")) {
		return
	}
	readTyped(config, "go-typed-json", "application/json", resource, kind)
	// The aggregator's and the definitions' own clients speak JSON, too.
	if kind.Group != aggregation.GroupName {
		readTyped(config, "go-typed-protobuf", "application/vnd.kubernetes.protobuf", resource, kind)
	}
}

func readDynamic(config *rest.Config, reader, accept string, resource schema.GroupVersionResource) {
	own := rest.CopyConfig(config)
	own.AcceptContentTypes = accept
	client, err := dynamic.NewForConfig(own)
	must(err)
	list, err := client.Resource(resource).List(context.Background(), v1.ListOptions{})
	if err != nil {
		fail(reader, resource, err)
		return
	}
	for i := range list.Items {
		value := list.Items[i].Object
		object := list.Items[i].DeepCopy()
		delete(value, "kind")
		delete(value, "apiVersion")
		print(reader, resource, object, value)
	}
}

func readTyped(config *rest.Config, reader, accept string, resource schema.GroupVersionResource, kind schema.GroupVersionKind) {
	own := rest.CopyConfig(config)
	version := kind.GroupVersion()
	own.GroupVersion = &version
	own.APIPath = "/apis"
	if kind.Group == "" {
		own.APIPath = "/api"
	}
	own.NegotiatedSerializer = serializer.WithoutConversionCodecFactory{CodecFactory: scheme.Codecs}
	own.AcceptContentTypes = accept
	own.ContentType = accept
	client, err := rest.RESTClientFor(own)
	must(err)
	list, err := scheme.Scheme.New(version.WithKind(kind.Kind + "List"))
	must(err)
	if err := client.Get().Resource(resource.Resource).Do(context.Background()).Into(list); err != nil {
		fail(reader, resource, err)
		return
	}
	items, err := meta.ExtractList(list)
	must(err)
	for _, item := range items {
		object, err := meta.Accessor(item)
		must(err)
		value, err := asValue(item)
		if err != nil {
			fail(reader, resource, err)
			continue
		}
		print(reader, resource, object, value)
	}
}

func asValue(object runtime.Object) (any, error) {
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var value map[string]any
	if err := apijson.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	// Templates of claims say their kind in JSON, and in protobuf have no field for it.
	claims, _, _ := unstructured.NestedFieldNoCopy(value, "spec", "volumeClaimTemplates")
	if claims, ok := claims.([]any); ok {
		for _, claim := range claims {
			delete(claim.(map[string]any), "kind")
			delete(claim.(map[string]any), "apiVersion")
		}
	}
	return value, nil
}
