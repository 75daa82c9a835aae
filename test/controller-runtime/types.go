package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const group = "widgets.example.dev"

var (
	v1 = schema.GroupVersion{Group: group, Version: "v1"}
	v2 = schema.GroupVersion{Group: group, Version: "v2"}
)

// Widget is the stored version, v2: a size with a unit.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec,omitempty"`
	Status            WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct {
	Size  Size   `json:"size"`
	Color string `json:"color,omitempty"`
}

type Size struct {
	Value int64  `json:"value"`
	Unit  string `json:"unit,omitempty"`
}

type WidgetStatus struct {
	Ready              bool               `json:"ready"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// Hub makes v2 the version that all others convert through.
func (*Widget) Hub() {}

func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	out.Status.Conditions = append([]metav1.Condition(nil), w.Status.Conditions...)
	return &out
}

func (l *WidgetList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]Widget, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*Widget)
	}
	return &out
}

// OldWidget is v1: its size is a plain number of millimetres.
type OldWidget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              OldWidgetSpec `json:"spec,omitempty"`
	Status            WidgetStatus  `json:"status,omitempty"`
}

type OldWidgetSpec struct {
	Millimetres int64  `json:"millimetres"`
	Color       string `json:"color,omitempty"`
}

type OldWidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []OldWidget `json:"items"`
}

func (w *OldWidget) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	out.Status.Conditions = append([]metav1.Condition(nil), w.Status.Conditions...)
	return &out
}

func (l *OldWidgetList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = make([]OldWidget, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*OldWidget)
	}
	return &out
}

func addToScheme(scheme *runtime.Scheme) {
	scheme.AddKnownTypes(v2, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(scheme, v2)
	scheme.AddKnownTypeWithName(v1.WithKind("Widget"), &OldWidget{})
	scheme.AddKnownTypeWithName(v1.WithKind("WidgetList"), &OldWidgetList{})
	metav1.AddToGroupVersion(scheme, v1)
}
