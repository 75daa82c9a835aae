import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type KindType,
  resolveType,
  type SchemaType,
  type StructType,
  type VariantType,
} from '../../src/base/machinery/schema/index.js';

/** Everything declared below `src/objects/apis`, by its name. */
export interface DeclaredTypes {
  readonly structs: ReadonlyMap<string, StructType>;
  readonly variants: ReadonlyMap<string, VariantType<unknown>>;
  readonly kinds: readonly KindType[];
}

/** Loads every declaration and collects the types that it reaches. */
export async function declaredTypes(): Promise<DeclaredTypes> {
  const structs = new Map<string, StructType>();
  const variants = new Map<string, VariantType<unknown>>();
  const collect = (type: SchemaType): void => {
    const resolved = resolveType(type);
    if (resolved.type === 'list') collect(resolved.element);
    else if (resolved.type === 'map') collect(resolved.value);
    else if (resolved.type === 'variant') {
      variants.set(resolved.name, resolved);
      collect(resolved.struct);
    } else if (resolved.type === 'struct' && !structs.has(resolved.name)) {
      structs.set(resolved.name, resolved);
      for (const field of resolved.fields) collect(field.type);
    }
  };
  const folder = fileURLToPath(new URL('../../src/objects/apis', import.meta.url));
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!entry.endsWith('.types.js')) continue;
    const module = (await import(join(folder, entry))) as Record<string, unknown>;
    for (const exported of Object.values(module)) {
      if (typeof exported === 'object' && exported !== null && 'type' in exported) collect(exported as SchemaType);
    }
  }
  const kinds = [...structs.values()].filter((type) => type.kind !== undefined) as KindType[];
  return { structs, variants, kinds };
}
