import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Skeleton } from './blank.js';
import { Schemas } from './openapi-schema.js';
import { liveApi, session } from './session.js';
import type { YamlEditor } from './yaml-editor.js';

interface CodeEditorProps {
  readonly text: string;
  /** The name for screen readers. */
  readonly label: string;
  /** Takes each new text; undefined for texts that are only shown. */
  readonly change?: (text: string) => void;
  readonly submit?: () => void;
  readonly placeholder?: string;
}

/** The schemas belong to the server, and what the user may see of it. */
let schemas = new Schemas(liveApi);
session.subscribe(() => {
  schemas = new Schemas(liveApi);
});

/**
 * A text of YAML with colours, folds, search, and help from the schemas of the server. Its code is loaded when the first one is
 * shown; where it can't be loaded, there is a plain field in its place.
 */
export function CodeEditor({ text, label, change, submit, placeholder = '' }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<YamlEditor | undefined>(undefined);
  const state = useSignal<'loading' | 'shown' | 'plain'>('loading');
  const latest = useRef({ text, change, submit });
  latest.current = { text, change, submit };
  const isReadOnly = change === undefined;
  useEffect(() => {
    let isGone = false;
    const show = async () => {
      const { makeYamlEditor } = await import('./yaml-editor.js');
      if (isGone || host.current === null) return;
      editor.current = makeYamlEditor(host.current, {
        ...{ text: latest.current.text, label, isReadOnly, placeholder },
        schemaOf: (apiVersion, kind) => schemas.of(apiVersion, kind),
        change: (next) => latest.current.change?.(next),
        submit: () => latest.current.submit?.(),
      });
      state.value = 'shown';
      if (!isReadOnly) editor.current.focus();
    };
    show().catch(() => {
      state.value = 'plain';
    });
    return () => {
      isGone = true;
      editor.current?.destroy();
      editor.current = undefined;
    };
  }, []);
  useLayoutEffect(() => editor.current?.set(text), [text]);
  return (
    <>
      {state.value === 'loading' && <Skeleton lines={8} />}
      {state.value === 'plain' && (
        <textarea
          aria-label={label}
          readOnly={isReadOnly}
          spellcheck={false}
          wrap="off"
          rows={20}
          value={text}
          onInput={(event) => change?.(event.currentTarget.value)}
        />
      )}
      <div ref={host} class="code" />
    </>
  );
}
