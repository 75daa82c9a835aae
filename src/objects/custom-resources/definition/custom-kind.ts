import {
  always,
  type CustomForm,
  type CustomKindForm,
  type CustomOwnership,
  type CustomShape,
  type CustomType,
  type DecodeOptions,
  type Field,
  type KindType,
  kind,
  type PublishCustom,
  type Typed,
} from '../../../base/machinery/schema/index.js';
import { objectMeta } from '../../apis/meta/v1/object-meta.types.js';
import { pruned, type StructuralSchema, toOpenApi } from '../structural/index.js';
import type { DefinitionSource, TopField, VersionSource } from './definition-source.js';
import { fieldOwnership, otherFields } from './field-ownership.js';
import { fieldShape } from './field-shape.js';
import { selectableNames } from './selectable-fields.js';

/** The declaration that all custom kinds extend. */
const base = kind({ group: 'custom', version: 'v1', kind: 'Any' }, { metadata: always(1, objectMeta) });

/**
 * The declaration of one version of a custom kind. Its schema is read when an object of the kind is read; until then it
 * takes little memory.
 */
export function customKind(source: DefinitionSource, version: VersionSource, schema: () => StructuralSchema): KindType {
  const { group, isNamespaced, names } = source;
  return {
    ...base,
    name: [...group.split('.').reverse(), version.name, names.kind].join('.'),
    kind: { group, version: version.name, kind: names.kind, scope: isNamespaced ? 'Namespaced' : 'Cluster' },
    fields: [...base.fields, ...version.fields.map((field) => customField(field, version, schema))],
    custom: new KindForm(version, schema),
  };
}

function customType(form: CustomForm): CustomType {
  return { type: 'custom', form } satisfies Omit<CustomType, keyof Typed<unknown>> as CustomType;
}

function customField(field: TopField, version: VersionSource, schema: () => StructuralSchema): Field {
  return {
    name: field.name,
    protoName: field.name,
    number: 0,
    type: customType(new FieldForm(field, version, schema)),
    presence: 'pointer',
    nullable: true,
    listType: undefined,
    listKeys: undefined,
    mapType: undefined,
    patch: undefined,
    default: undefined,
    dropped: false,
    gate: undefined,
    doc: undefined,
  };
}

class FieldForm implements CustomForm {
  constructor(
    private readonly field: TopField,
    private readonly version: VersionSource,
    private readonly schema: () => StructuralSchema,
  ) {}

  get column(): CustomForm['column'] {
    return this.field.column;
  }

  decode(input: unknown, onUnknown: (path: string) => void, options?: DecodeOptions): unknown {
    const own = this.own();
    return own === undefined ? input : pruned(own, input, { ...options, onUnknown });
  }

  ownership(): CustomOwnership {
    const own = this.own();
    return own === undefined ? { kind: 'any' } : fieldOwnership(own);
  }

  shape(): CustomShape {
    const own = this.own();
    return own === undefined ? { kind: 'any' } : fieldShape(own);
  }

  openApi(...[version, reference]: Parameters<PublishCustom>): ReturnType<PublishCustom> {
    const own = this.version.schema.unpack().properties?.[this.field.name];
    return own === undefined
      ? {}
      : toOpenApi(own, {
          version,
          objectMeta: reference(objectMeta),
          isLazy: this.version.schema.isLong,
        });
  }

  private own(): StructuralSchema | undefined {
    return this.schema().properties.get(this.field.name);
  }
}

class KindForm implements CustomKindForm {
  constructor(
    private readonly version: VersionSource,
    private readonly schema: () => StructuralSchema,
  ) {}

  decode(
    input: Readonly<Record<string, unknown>>,
    onUnknown: (path: string) => void,
    options?: DecodeOptions,
  ): Readonly<Record<string, unknown>> {
    return pruned(this.schema(), input, { ...options, isRoot: true, onUnknown }) as Readonly<Record<string, unknown>>;
  }

  get others(): CustomOwnership | undefined {
    return otherFields(this.schema());
  }

  published(): Promise<unknown> | undefined {
    const { schema } = this.version;
    return schema.isLong ? schema.unpackInTurns() : undefined;
  }

  openApi(...[version, reference]: Parameters<PublishCustom>): ReturnType<PublishCustom> {
    const { properties: _properties, ...root } = this.version.schema.unpack();
    const {
      type: _type,
      properties: _none,
      ...published
    } = toOpenApi(root, { version, objectMeta: reference(objectMeta), isLazy: this.version.schema.isLong });
    // In version 2, a schema without fields means any object, and clients compare it with such a schema.
    if (!this.publishesFields(version)) delete published['x-kubernetes-preserve-unknown-fields'];
    const { selectableFields } = this.version;
    if (selectableFields === undefined) return published;
    const selectable = selectableNames(selectableFields).map((fieldPath) => ({ fieldPath }));
    return { ...published, 'x-kubernetes-selectable-fields': selectable };
  }

  /** Version 2 can't express that an object may have fields besides the published ones. */
  publishesFields(version: 2 | 3): boolean {
    return version === 3 || this.version.schema.unpack()['x-kubernetes-preserve-unknown-fields'] !== true;
  }
}
