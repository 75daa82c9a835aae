import type { Section, Value } from './details.js';
import { kinds } from './session.js';
import { StatusText } from './status-badge.js';
import { TableHead } from './table-head.js';
import { hrefOf } from './target-link.js';
import { Wide } from './wide.js';

/** How many rows and details of a section are drawn: an object may have tens of thousands. */
const mostRows = 300;

export function Sections({ sections }: { readonly sections: readonly Section[] }) {
  return sections.map((section) => (
    <section key={section.title} class="details">
      <h2>{section.title}</h2>
      {'details' in section ? (
        <dl>
          {section.details.slice(0, mostRows).map(({ label, values }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                <Values values={values} />
              </dd>
            </div>
          ))}
        </dl>
      ) : (
        <Wide>
          <table class={section.title === 'Conditions' ? 'plain conditions' : 'plain'}>
            <TableHead titles={section.titles} />
            <tbody>
              {section.rows.slice(0, mostRows).map((cells, row) => (
                <tr key={row}>
                  {cells.map((values, column) => (
                    <td key={section.titles[column]}>
                      <Values values={values} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {section.rows.length > mostRows && <p class="quiet">The YAML has {section.rows.length - mostRows} more.</p>}
        </Wide>
      )}
    </section>
  ));
}

export function Values({ values }: { readonly values: readonly Value[] }) {
  if (values.length === 0) return <span class="quiet">–</span>;
  return values.slice(0, mostRows).map((value, index) => (
    <span key={index} class="value">
      <ValueView value={value} />
    </span>
  ));
}

function ValueView({ value: { text, tone, to, isCode } }: { readonly value: Value }) {
  const href = to === undefined ? undefined : hrefOf(kinds.value, to);
  if (href !== undefined) return <a href={href}>{text}</a>;
  if (tone !== undefined) return <StatusText tone={tone} text={text} />;
  return isCode === true ? <code>{text}</code> : text;
}
