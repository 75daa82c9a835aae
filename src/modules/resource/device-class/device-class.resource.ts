import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type DeviceClass, deviceClass } from '../../../objects/apis/resource/v1/device-class.types.js';
import { deviceClass as deviceClassV1beta1 } from '../../../objects/apis/resource/v1beta1/resource.types.js';
import { deviceClass as deviceClassV1beta2 } from '../../../objects/apis/resource/v1beta2/resource.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { declared, declaredLast } from '../validation/declared.js';
import { validateDeviceConfiguration } from '../validation/device-configuration.validation.js';
import { DeviceExpressions, validateDeviceSelectors } from '../validation/device-selector.validation.js';
import { validateExtendedResourceName } from '../validation/extended-resource-name.js';
import { validateItems } from '../validation/lists.validation.js';

const specPath = FieldPath.of('spec');
const maxConfigurations = 32;

/** `deviceclasses`: classes of devices that claims can request. */
export function deviceClassResource(names: VendorNames): ResourceDefinition {
  return defineResource<DeviceClass>({
    group: groupName('resource', names),
    resource: 'deviceclasses',
    singular: 'deviceclass',
    kind: 'DeviceClass',
    namespaced: false,
    versions: [
      { version: 'v1', type: deviceClass },
      { version: 'v1beta2', type: deviceClassV1beta2, isOffByDefault: true },
      { version: 'v1beta1', type: deviceClassV1beta1, isOffByDefault: true },
    ],
    strategyOptions: { generation: 'spec', returnsDeletedObject: true },
    strategy: {
      // The name is checked with the rules that are declared with the type: see `validate`.
      validateName: () => [],
      validate: (_context, object) => validateDeviceClass(object),
      validateUpdate: (_context, object, old) => validateDeviceClass(object, old),
    },
    columns: [nameColumn, ageColumn],
  });
}

/** Validates a class. Unchanged selectors and settings are not checked. */
function validateDeviceClass({ metadata, spec }: DeviceClass, old?: DeviceClass): FieldError[] {
  const { selectors, config, extendedResourceName } = spec;
  const expressions = deepEqual(selectors, old?.spec.selectors) ? undefined : new DeviceExpressions();
  const isStored = old !== undefined && deepEqual(config, old.spec.config);
  const name = metadata?.name ?? '';
  // An absent name is reported once, by the check of all metadata.
  const nameFaults = name === '' ? [] : isDns1123Subdomain(name);
  const errors = [
    ...declared(nameFaults.map((message) => invalid(FieldPath.of('metadata', 'name'), name, message))),
    ...validateDeviceSelectors(selectors, specPath.child('selectors'), expressions),
    ...validateItems(config, maxConfigurations, specPath.child('config'), (entry, at) =>
      validateDeviceConfiguration(entry, at, isStored),
    ),
  ];
  if (extendedResourceName !== undefined) {
    const at = specPath.child('extendedResourceName');
    errors.push(...declared(validateExtendedResourceName(extendedResourceName, at)));
  }
  return declaredLast(errors);
}
