package main

import (
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func object(properties map[string]apiextensions.JSONSchemaProps, required ...string) apiextensions.JSONSchemaProps {
	return apiextensions.JSONSchemaProps{Type: "object", Properties: properties, Required: required}
}

// definition is the CustomResourceDefinition with both versions and a conversion webhook.
func definition(convertURL string, caBundle []byte) *apiextensions.CustomResourceDefinition {
	text := apiextensions.JSONSchemaProps{Type: "string"}
	integer := apiextensions.JSONSchemaProps{Type: "integer", Format: "int64"}
	condition := object(map[string]apiextensions.JSONSchemaProps{
		"type": text, "status": text, "reason": text, "message": text, "observedGeneration": integer,
		"lastTransitionTime": {Type: "string", Format: "date-time"},
	}, "type", "status")
	status := object(map[string]apiextensions.JSONSchemaProps{
		"ready":              {Type: "boolean"},
		"observedGeneration": integer,
		"conditions": {
			Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &condition},
			XListType: ptr.To("map"), XListMapKeys: []string{"type"},
		},
	})
	size := object(map[string]apiextensions.JSONSchemaProps{
		"value": {Type: "integer", Format: "int64", Minimum: ptr.To(0.0)},
		"unit": {
			Type: "string", Enum: []apiextensions.JSON{{Raw: []byte(`"mm"`)}, {Raw: []byte(`"cm"`)}},
			Default: &apiextensions.JSON{Raw: []byte(`"mm"`)},
		},
	}, "value")
	newSpec := object(map[string]apiextensions.JSONSchemaProps{"size": size, "color": text}, "size")
	newSpec.XValidations = apiextensions.ValidationRules{
		{Rule: "self.size.value >= oldSelf.size.value", Message: "widgets never shrink"},
	}
	oldSpec := object(map[string]apiextensions.JSONSchemaProps{"millimetres": integer, "color": text}, "millimetres")
	version := func(name string, spec apiextensions.JSONSchemaProps, stored bool) apiextensions.CustomResourceDefinitionVersion {
		root := object(map[string]apiextensions.JSONSchemaProps{"spec": spec, "status": status})
		return apiextensions.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: stored,
			Schema:       &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &root},
			Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
			AdditionalPrinterColumns: []apiextensions.CustomResourceColumnDefinition{
				{Name: "Ready", Type: "boolean", JSONPath: ".status.ready"},
			},
		}
	}
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: group,
			Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{
				Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList", ShortNames: []string{"wd"},
			},
			Versions: []apiextensions.CustomResourceDefinitionVersion{version("v2", newSpec, true), version("v1", oldSpec, false)},
			Conversion: &apiextensions.CustomResourceConversion{
				Strategy: apiextensions.WebhookConverter,
				Webhook: &apiextensions.WebhookConversion{
					ClientConfig:             &apiextensions.WebhookClientConfig{URL: &convertURL, CABundle: caBundle},
					ConversionReviewVersions: []string{"v1"},
				},
			},
		},
	}
}
