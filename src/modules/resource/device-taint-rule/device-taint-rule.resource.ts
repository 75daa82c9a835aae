import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { type FieldError, FieldPath, tooMany } from '../../../base/machinery/field-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { validateConditions } from '../../../objects/apis/meta/v1/validation/condition.validation.js';
import { type DeviceTaintRule, deviceTaintRule } from '../../../objects/apis/resource/v1/device-taint-rule.types.js';
import { deviceTaintRule as deviceTaintRuleV1alpha3 } from '../../../objects/apis/resource/v1alpha3/device-taint-rule.types.js';
import { deviceTaintRule as deviceTaintRuleV1beta2 } from '../../../objects/apis/resource/v1beta2/resource.types.js';
import { ageColumn, nameColumn, since } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { declaredLast } from '../validation/declared.js';
import { validateDeviceLabel, validateDriverName, validatePoolName } from '../validation/device-names.validation.js';
import { validateDeviceTaint } from '../validation/device-taint.validation.js';

const specPath = FieldPath.of('spec');
const conditionsPath = FieldPath.of('status', 'conditions');
const maxConditions = 8;

const columns: readonly TableColumn<DeviceTaintRule>[] = [
  nameColumn,
  { name: 'Key', type: 'string', description: 'Key of the taint.', cell: ({ spec }) => spec.taint.key },
  { name: 'Value', type: 'string', description: 'Value of the taint.', cell: ({ spec }) => spec.taint.value ?? '' },
  { name: 'Effect', type: 'string', description: 'Effect of the taint.', cell: ({ spec }) => spec.taint.effect },
  {
    name: 'TimeAdded',
    type: 'string',
    description: 'Time since the taint was added.',
    cell: ({ spec }) => since(spec.taint.timeAdded),
  },
  ageColumn,
];

/** `devicetaintrules`: taints for all devices that a selector matches. */
export function deviceTaintRuleResource(names: VendorNames, clock: Clock): ResourceDefinition {
  return defineResource<DeviceTaintRule>({
    group: groupName('resource', names),
    resource: 'devicetaintrules',
    singular: 'devicetaintrule',
    kind: 'DeviceTaintRule',
    namespaced: false,
    versions: [
      { version: 'v1beta2', type: deviceTaintRuleV1beta2, isOffByDefault: true },
      { version: 'v1', type: deviceTaintRule },
      { version: 'v1alpha3', type: deviceTaintRuleV1alpha3 },
    ],
    strategyOptions: { generation: 'spec', allowUnconditionalUpdate: false },
    strategy: {
      applyDefaults: ({ spec }) => {
        spec.taint.timeAdded ??= formatTime(clock.now());
      },
      prepareForCreate: (_context, object) => {
        object.status = {};
      },
      prepareForUpdate: (_context, { spec: { taint } }, { spec: { taint: old } }) => {
        // The time is when the effect began, for tolerations of limited duration.
        if (taint.effect !== old.effect && taint.timeAdded === old.timeAdded) taint.timeAdded = formatTime(clock.now());
      },
      validate: (_context, object) => validateRule(object),
      validateUpdate: (_context, object, old) => validateRule(object, old),
    },
    columns,
    subresources: [
      statusSubresource<DeviceTaintRule>({
        keptMetadata: clientMetadata,
        validate: ({ status }) => validateStatus(status),
      }),
    ],
  });
}

function validateRule({ spec }: DeviceTaintRule, old?: DeviceTaintRule): FieldError[] {
  const path = specPath.child('deviceSelector');
  const { driver, pool, device } = spec.deviceSelector ?? {};
  return declaredLast([
    ...(driver === undefined ? [] : validateDriverName(driver, path.child('driver'))),
    ...(pool === undefined ? [] : validatePoolName(pool, path.child('pool'))),
    ...(device === undefined ? [] : validateDeviceLabel(device, path.child('device'))),
    ...validateDeviceTaint(spec.taint, specPath.child('taint'), old?.spec.taint),
  ]);
}

function validateStatus({ conditions = [] }: DeviceTaintRule['status']): FieldError[] {
  const errors = validateConditions(conditions, conditionsPath);
  if (conditions.length > maxConditions) errors.push(tooMany(conditionsPath, conditions.length, maxConditions));
  return errors;
}
