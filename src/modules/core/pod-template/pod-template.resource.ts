import { FieldPath } from '../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { applyPodSpecDefaults } from '../../../objects/apis/core/v1/defaults/pod-spec.defaults.js';
import { type PodTemplate, podTemplate } from '../../../objects/apis/core/v1/pod-template.types.js';
import { containerImages, containerNames, formatLabels } from '../../../objects/apis/core/v1/pod-template-text.js';
import { podWarnings } from '../../../objects/apis/core/v1/pod-warnings.js';
import { validatePodTemplateSpec } from '../../../objects/apis/core/v1/validation/pod-template.validation.js';
import { updateOptions } from '../../../objects/apis/core/v1/validation/update-options.js';
import { nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';

const templatePath = FieldPath.of('template');

/** Pod templates stored as objects of their own. */
export function podTemplateResource(names: VendorNames): ResourceDefinition {
  const options = { names };
  return defineResource<PodTemplate>({
    group: '',
    resource: 'podtemplates',
    singular: 'podtemplate',
    kind: 'PodTemplate',
    namespaced: true,
    // Raised because stored templates once had an empty creationTimestamp.
    defaultsRevision: 1,
    versions: [{ version: 'v1', type: podTemplate }],
    strategy: {
      applyDefaults: (object) => applyPodSpecDefaults(object.template.spec),
      validate: (_context, object) => validatePodTemplateSpec(object.template, templatePath, options),
      validateUpdate: (_context, object, old) =>
        validatePodTemplateSpec(object.template, templatePath, updateOptions(options, old.template.spec)),
      warnings: (_context, object, old) =>
        old === undefined || old.metadata.generation !== object.metadata.generation
          ? podWarnings(object.template, 'template.', names)
          : [],
    },
    strategyOptions: { returnsDeletedObject: true, generation: ({ template }) => template },
    columns: [
      nameColumn,
      {
        name: 'Containers',
        type: 'string',
        description: 'Names of the containers.',
        cell: ({ template }) => containerNames(template.spec),
      },
      {
        name: 'Images',
        type: 'string',
        description: 'Images of the containers.',
        cell: ({ template }) => containerImages(template.spec),
      },
      {
        name: 'Pod Labels',
        type: 'string',
        description: 'Labels that pods of the template get.',
        cell: ({ template }) => formatLabels(template.metadata.labels),
      },
    ],
  });
}
