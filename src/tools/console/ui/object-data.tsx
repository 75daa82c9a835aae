import { useSignal } from '@preact/signals';
import { dig, entriesAt } from './dig.js';
import { Icon } from './icons.js';
import { ScrolledText } from './scrolled-text.js';
import { byteText, decodedText } from './secret-text.js';
import type { ApiObject } from './yaml-text.js';

/** The values of a ConfigMap, and those of a Secret once they are asked for. */
export function ObjectData({ resource, object }: { readonly resource: string; readonly object: ApiObject }) {
  if (resource === 'secrets') return <SecretData object={object} />;
  const values = entriesAt(object, 'data');
  const binary = entriesAt(object, 'binaryData');
  if (values.length + binary.length === 0) return <p class="quiet">It holds no data.</p>;
  return (
    <section class="details data">
      <h2>Data</h2>
      {values.slice(0, mostShown).map(([key, value]) => (
        <figure key={key}>
          <figcaption>
            <code>{key}</code> <Copy text={value} name={key} />
          </figcaption>
          <ScrolledText class="yaml">{value}</ScrolledText>
        </figure>
      ))}
      {binary.slice(0, mostShown).map(([key, value]) => (
        <p key={key}>
          <code>{key}</code> <span class="quiet">{byteText(value)}</span>
        </p>
      ))}
      <Left count={Math.max(values.length, binary.length)} />
    </section>
  );
}

/** How many values are drawn: an object may have tens of thousands. */
const mostShown = 300;

function Left({ count }: { readonly count: number }) {
  return count > mostShown ? <p class="quiet">The YAML has {count - mostShown} more.</p> : null;
}

function SecretData({ object }: { readonly object: ApiObject }) {
  const revealed = useSignal<ReadonlySet<string>>(new Set());
  const values = entriesAt(object, 'data');
  return (
    <section class="details data">
      <h2>
        Values <span class="quiet">{String(dig(object, 'type') ?? '')}</span>
      </h2>
      {values.length === 0 && <p class="quiet">It holds no values.</p>}
      {values.slice(0, mostShown).map(([key, value]) => {
        const isShown = revealed.value.has(key);
        const text = decodedText(value);
        return (
          <figure key={key}>
            <figcaption>
              <code>{key}</code> <span class="quiet">{byteText(value)}</span>
              <span class="gap" />
              <button
                type="button"
                aria-pressed={isShown}
                onClick={() => {
                  const next = new Set(revealed.value);
                  if (!next.delete(key)) next.add(key);
                  revealed.value = next;
                }}
              >
                <Icon name="eye" /> {isShown ? 'Hide' : 'Reveal'}
              </button>
              {text !== undefined && <Copy text={text} name={key} />}
            </figcaption>
            <ScrolledText class="yaml">{isShown ? (text ?? `(binary) ${value}`) : '••••••••'}</ScrolledText>
          </figure>
        );
      })}
      <Left count={values.length} />
    </section>
  );
}

function Copy({ text, name }: { readonly text: string; readonly name: string }) {
  const isDone = useSignal(false);
  // Browsers have no clipboard on pages without encryption, other than those of this machine.
  if (!isSecureContext) return null;
  return (
    <button
      type="button"
      aria-label={`Copy ${name}`}
      onClick={() => {
        void navigator.clipboard.writeText(text).then(() => {
          isDone.value = true;
        });
      }}
    >
      <Icon name="copy" /> {isDone.value ? 'Copied' : 'Copy'}
    </button>
  );
}
