package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func eventually(what string, check func() (bool, error)) {
	deadline := time.Now().Add(20 * time.Second)
	for {
		done, err := check()
		if done {
			ok(what)
			return
		}
		if time.Now().After(deadline) {
			must(what, fmt.Errorf("not after 20 s: %v", err))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// establish creates the definition and waits until it is served.
func establish(ctx context.Context, c client.Client, crd *apiextensions.CustomResourceDefinition) {
	must("create definition", c.Create(ctx, crd))
	eventually("definition is established", func() (bool, error) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
			return false, err
		}
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensions.Established && condition.Status == apiextensions.ConditionTrue {
				return true, nil
			}
		}
		return false, nil
	})
	eventually("widgets are served", func() (bool, error) {
		err := c.List(ctx, &WidgetList{})
		return err == nil, err
	})
}

func refused(what string, err error, part string) {
	if err == nil || !strings.Contains(err.Error(), part) {
		must(what, fmt.Errorf("expected a refusal with %q, got %v", part, err))
	}
	ok(what)
}

func scenario(ctx context.Context, c client.Client, base string, ca []byte) {
	must("mutating configuration", c.Create(ctx, mutatingConfiguration(base, ca)))
	must("validating configuration", c.Create(ctx, validatingConfiguration(base, ca)))
	eventually("webhooks are in force", func() (bool, error) {
		probe := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "probe"}, Spec: WidgetSpec{Color: "invisible"}}
		err := c.Create(ctx, probe, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "nobody can see"), err
	})

	old := &OldWidget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}, Spec: OldWidgetSpec{Millimetres: 7}}
	must("create in v1", c.Create(ctx, old))
	if old.Spec.Color != "grey" || old.Spec.Millimetres != 7 {
		must("defaulting webhook sees v1 converted", fmt.Errorf("got %+v", old.Spec))
	}
	ok("defaulting webhook sees v1 converted")

	key := client.ObjectKey{Namespace: "default", Name: "one"}
	var widget Widget
	eventually("controller writes the status", func() (bool, error) {
		err := c.Get(ctx, key, &widget)
		return err == nil && widget.Status.Ready, err
	})
	if widget.Spec.Size != (Size{7, "mm"}) || widget.Generation != 1 {
		must("read in v2", fmt.Errorf("got %+v, generation %d", widget.Spec, widget.Generation))
	}
	ok("read in v2")

	var config core.ConfigMap
	must("config map of the widget", c.Get(ctx, key, &config))
	if owner := metav1.GetControllerOf(&config); owner == nil || owner.UID != widget.UID || config.Data["size"] != "7mm" {
		must("owner reference", fmt.Errorf("got %+v %v", config.OwnerReferences, config.Data))
	}
	ok("owner reference")

	widget.Spec.Size = Size{9, "cm"}
	must("update in v2", c.Update(ctx, &widget))
	eventually("controller follows the update", func() (bool, error) {
		err := c.Get(ctx, key, &config)
		return err == nil && config.Data["size"] == "9cm", err
	})
	must("read in v1", c.Get(ctx, key, old))
	if old.Spec.Millimetres != 90 {
		must("read in v1", fmt.Errorf("got %+v", old.Spec))
	}
	ok("conversion of a read")

	must("read", c.Get(ctx, key, &widget))
	widget.Spec.Size.Value = 1
	refused("transition rule", c.Update(ctx, &widget), "widgets never shrink")
	invalid := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "two"}, Spec: WidgetSpec{Size: Size{1, "inch"}}}
	refused("schema", c.Create(ctx, invalid), "supported values")
	unseen := &OldWidget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "three"}, Spec: OldWidgetSpec{Color: "invisible"}}
	refused("validating webhook", c.Create(ctx, unseen), "nobody can see")

	must("apply in v1", c.Patch(ctx, &OldWidget{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1.String(), Kind: "Widget"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"},
		Spec:       OldWidgetSpec{Millimetres: 100, Color: "red"},
	}, client.Apply, client.FieldOwner("scenario"), client.ForceOwnership))
	must("read", c.Get(ctx, key, &widget))
	if widget.Spec.Color != "red" || widget.Spec.Size.Value != 100 {
		must("apply in v1", fmt.Errorf("got %+v", widget.Spec))
	}
	ok("apply in v1")

	var list OldWidgetList
	must("list in v1", c.List(ctx, &list, client.InNamespace("default")))
	if len(list.Items) != 1 || list.Items[0].Spec.Millimetres != 100 {
		must("list in v1", fmt.Errorf("got %+v", list.Items))
	}
	ok("list in v1")

	must("delete", c.Delete(ctx, &widget))
	eventually("finalizer lets the widget go", func() (bool, error) {
		return apierrors.IsNotFound(c.Get(ctx, key, &widget)), nil
	})
	must("note of the finalizer", c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "one-gone"}, &config))
	ok("note of the finalizer")

	crd := &apiextensions.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group}}
	must("delete definition", c.Delete(ctx, crd))
	eventually("definition is gone", func() (bool, error) {
		return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(crd), crd)), nil
	})
}
