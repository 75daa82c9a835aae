package main

import "sigs.k8s.io/controller-runtime/pkg/conversion"

// ConvertTo makes a v2 widget of a v1 widget.
func (w *OldWidget) ConvertTo(hub conversion.Hub) error {
	out := hub.(*Widget)
	out.ObjectMeta = w.ObjectMeta
	out.Spec = WidgetSpec{Size: Size{Value: w.Spec.Millimetres, Unit: "mm"}, Color: w.Spec.Color}
	out.Status = w.Status
	return nil
}

// ConvertFrom makes a v1 widget of a v2 widget.
func (w *OldWidget) ConvertFrom(hub conversion.Hub) error {
	in := hub.(*Widget)
	w.ObjectMeta = in.ObjectMeta
	millimetres := in.Spec.Size.Value
	if in.Spec.Size.Unit == "cm" {
		millimetres *= 10
	}
	w.Spec = OldWidgetSpec{Millimetres: millimetres, Color: in.Spec.Color}
	w.Status = in.Status
	return nil
}
