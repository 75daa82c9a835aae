package main

import (
	"context"
	"fmt"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type defaulter struct{}

func (defaulter) Default(_ context.Context, widget *Widget) error {
	if widget.Spec.Color == "" {
		widget.Spec.Color = "grey"
	}
	return nil
}

type validator struct{}

func (validator) ValidateCreate(_ context.Context, widget *Widget) (admission.Warnings, error) {
	if widget.Spec.Color == "invisible" {
		return nil, fmt.Errorf("nobody can see an %s widget", widget.Spec.Color)
	}
	return admission.Warnings{"widgets are an experiment"}, nil
}

func (v validator) ValidateUpdate(ctx context.Context, _, widget *Widget) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, widget)
}

func (validator) ValidateDelete(context.Context, *Widget) (admission.Warnings, error) {
	return nil, nil
}

func rule(operations ...admissionregistration.OperationType) []admissionregistration.RuleWithOperations {
	return []admissionregistration.RuleWithOperations{{
		Operations: operations,
		Rule: admissionregistration.Rule{
			APIGroups: []string{group}, APIVersions: []string{"v2"}, Resources: []string{"widgets"},
		},
	}}
}

// mutatingConfiguration and validatingConfiguration match v2 only: widgets of v1 reach them converted.
func mutatingConfiguration(base string, ca []byte) *admissionregistration.MutatingWebhookConfiguration {
	url := base + "/mutate-widgets-example-dev-v2-widget"
	return &admissionregistration.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets"},
		Webhooks: []admissionregistration.MutatingWebhook{{
			Name:                    "default.widgets.example.dev",
			ClientConfig:            admissionregistration.WebhookClientConfig{URL: &url, CABundle: ca},
			Rules:                   rule(admissionregistration.Create, admissionregistration.Update),
			SideEffects:             ptr.To(admissionregistration.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

func validatingConfiguration(base string, ca []byte) *admissionregistration.ValidatingWebhookConfiguration {
	url := base + "/validate-widgets-example-dev-v2-widget"
	return &admissionregistration.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets"},
		Webhooks: []admissionregistration.ValidatingWebhook{{
			Name:                    "check.widgets.example.dev",
			ClientConfig:            admissionregistration.WebhookClientConfig{URL: &url, CABundle: ca},
			Rules:                   rule(admissionregistration.Create, admissionregistration.Update),
			SideEffects:             ptr.To(admissionregistration.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}
