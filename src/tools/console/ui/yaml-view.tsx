import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { CodeEditor } from './code-editor.js';
import { ScrolledText } from './scrolled-text.js';
import { type ApiObject, toYaml, withoutManagedFields } from './yaml-text.js';

/** An object as YAML; the managed fields are folded into a line that names some managers. */
export function YamlView({ object }: { readonly object: ApiObject }) {
  const isOpen = useSignal(false);
  const text = useMemo(() => toYaml(withoutManagedFields(object)), [object]);
  const { managedFields = [] } = object.metadata;
  const managers = managedFields.map(({ manager = '', operation = '', subresource }) =>
    [manager, operation.toLowerCase(), subresource ?? ''].filter(Boolean).join(' '),
  );
  return (
    <>
      <CodeEditor key={object.metadata.uid} text={text} label="YAML of the object" />
      {managers.length > 0 && (
        <details
          onToggle={(event) => {
            isOpen.value = event.currentTarget.open;
          }}
        >
          <summary>
            Managed fields: {managers.length} ({managers.join(', ')})
          </summary>
          {isOpen.value && <ScrolledText class="yaml">{toYaml(managedFields)}</ScrolledText>}
        </details>
      )}
    </>
  );
}
