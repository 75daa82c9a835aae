package main

import (
	"context"
	"strconv"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const finalizer = "widgets.example.dev/tidy"

// reconciler keeps a config map with the size of each widget, and leaves a note when a widget goes.
type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var widget Widget
	if err := r.Get(ctx, request.NamespacedName, &widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !widget.DeletionTimestamp.IsZero() {
		note := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: widget.Namespace, Name: widget.Name + "-gone"}}
		if err := r.Create(ctx, note); err != nil && !apierrors.IsAlreadyExists(err) {
			return ctrl.Result{}, err
		}
		if controllerutil.RemoveFinalizer(&widget, finalizer) {
			return ctrl.Result{}, client.IgnoreNotFound(r.Update(ctx, &widget))
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&widget, finalizer) {
		return ctrl.Result{}, r.Update(ctx, &widget)
	}
	config := &core.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: widget.Namespace, Name: widget.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, config, func() error {
		config.Data = map[string]string{"size": strconv.FormatInt(widget.Spec.Size.Value, 10) + widget.Spec.Size.Unit}
		return controllerutil.SetControllerReference(&widget, config, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	if widget.Status.ObservedGeneration == widget.Generation {
		return ctrl.Result{}, nil
	}
	patch := client.MergeFrom(widget.DeepCopyObject().(*Widget))
	widget.Status.Ready = true
	widget.Status.ObservedGeneration = widget.Generation
	meta.SetStatusCondition(&widget.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Configured", ObservedGeneration: widget.Generation,
	})
	return ctrl.Result{}, r.Status().Patch(ctx, &widget, patch)
}
