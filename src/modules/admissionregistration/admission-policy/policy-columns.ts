import type { ApiObject } from '../../../base/machinery/api-object.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';
import type { BindingSpec, PolicySpec } from './policy.validation.js';
import { selectorText } from './selector-text.js';

/** Columns of a policy; `count` is the column that counts its rules. */
export function policyColumns<T extends ApiObject & { readonly spec: PolicySpec }>(
  count: TableColumn<T>,
): readonly TableColumn<T>[] {
  return [
    nameColumn,
    count,
    {
      name: 'ParamKind',
      type: 'string',
      description: 'Kind of the parameters.',
      cell: ({ spec: { paramKind } }) =>
        paramKind === undefined ? '<unset>' : `${paramKind.apiVersion}/${paramKind.kind}`,
    },
    ageColumn,
  ];
}

/** Columns of a binding. */
export function policyBindingColumns<
  T extends ApiObject & { readonly spec: BindingSpec },
>(): readonly TableColumn<T>[] {
  return [
    nameColumn,
    {
      name: 'PolicyName',
      type: 'string',
      description: 'Policy that is put into force.',
      cell: ({ spec }) => spec.policyName ?? '',
    },
    {
      name: 'ParamRef',
      type: 'string',
      description: 'Parameters of the policy.',
      cell: ({ spec: { paramRef } }) => {
        if (paramRef?.name) return `${paramRef.namespace || '*'}/${paramRef.name}`;
        return paramRef?.selector === undefined ? '<unset>' : selectorText(paramRef.selector);
      },
    },
    ageColumn,
  ];
}
