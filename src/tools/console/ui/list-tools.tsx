import { useSignal } from '@preact/signals';
import { savedViews } from './favourites.js';
import type { FollowState } from './follow.js';
import { Icon } from './icons.js';
import type { Kind } from './kinds.js';
import { changeSettings, settingsOf } from './list-settings.js';
import { Menu } from './menu.js';
import { moment } from './moment.js';
import { keyOfKind } from './nav-groups.js';
import { formatRoute, type ListRoute } from './routes.js';
import type { Column, LiveTable, Row } from './table.js';

interface ListToolsProps {
  readonly route: ListRoute;
  readonly kind: Kind | undefined;
  readonly title: string;
  readonly table: LiveTable;
  /** How many rows are shown. */
  readonly shown: number;
  readonly change: (more: Partial<ListRoute>) => void;
}

/** The head of a list: what it is, filters, columns. */
export function ListTools({ route, title, table, shown, change }: ListToolsProps) {
  const { labels, fields, text } = route;
  const isFiltered = labels !== '' || fields !== '' || text !== '';
  return (
    <header class="tools">
      <h1>{title}</h1>
      <Count total={table.all.length} shown={shown} state={table.state} isFilling={table.isFilling} />
      <span class="gap" />
      <div class="filters">
        <Filter id="find" label="Find (/)" value={text} change={(value) => change({ text: value })} isLive />
        <Filter
          id="labels"
          label="Labels (l)"
          hint="app=web"
          value={labels}
          change={(value) => change({ labels: value })}
        />
        <Filter
          id="fields"
          label="Fields (f)"
          hint="status.phase=Running"
          value={fields}
          change={(value) => change({ fields: value })}
        />
      </div>
      {isFiltered && <SaveView route={route} title={title} />}
      <ColumnsMenu listKey={keyOfKind(route)} columns={table.columns} rows={table.all} />
    </header>
  );
}

interface CountProps {
  readonly total: number;
  readonly shown: number;
  readonly state: FollowState;
  readonly isFilling: boolean;
}

/** What it shows are values, not the table that changes: with the same properties it is not drawn again. */
function Count({ total, shown, state, isFilling }: CountProps) {
  const text = shown === total ? String(total) : `${shown} of ${total}`;
  const isLive = state === 'live';
  const isPast = moment.value !== undefined;
  const isGrowing = isFilling && state === 'loading';
  return (
    <span class="count" data-state={state} data-complete={!isFilling}>
      {text}
      {isGrowing ? '…' : ''}{' '}
      <span class={isLive && !isPast ? 'live on' : 'live'}>{isPast ? 'as it was' : isLive ? 'live' : 'not live'}</span>
    </span>
  );
}

interface FilterProps {
  readonly id: string;
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly change: (value: string) => void;
  /** Whether each typed letter takes effect, not only Enter. */
  readonly isLive?: boolean;
}

function Filter({ id, label, hint = '', value, change, isLive = false }: FilterProps) {
  const isFocused = useSignal(false);
  return (
    <input
      id={id}
      type="search"
      class={value === '' ? '' : 'set'}
      aria-label={label}
      title={label}
      placeholder={isFocused.value && hint !== '' ? hint : label}
      autocomplete="off"
      spellcheck={false}
      value={value}
      onFocus={() => (isFocused.value = true)}
      onBlur={() => (isFocused.value = false)}
      onInput={(event) => isLive && change(event.currentTarget.value)}
      onChange={(event) => !isLive && change(event.currentTarget.value.trim())}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
      }}
    />
  );
}

/** Keeps the filters of a list under a name, in the navigation. */
function SaveView({ route, title }: { readonly route: ListRoute; readonly title: string }) {
  const { open: _, ...list } = route;
  const address = formatRoute({ page: 'list', ...list });
  const isSaved = savedViews.value.some((view) => view.address === address);
  const words = [route.text, route.labels, route.fields, route.namespace].filter(Boolean).join(', ');
  const name = useSignal('');
  return (
    <Menu
      label={<Icon name="bookmark" isFull={isSaved} />}
      name="Save these filters"
      title={isSaved ? 'These filters are saved' : 'Save these filters'}
    >
      {(close) => (
        <form
          class="sheet-form"
          onSubmit={(event) => {
            event.preventDefault();
            const given = name.value.trim() || `${title}: ${words}`;
            savedViews.value = [...savedViews.value.filter((view) => view.name !== given), { name: given, address }];
            close();
          }}
        >
          <label>
            Name in the navigation
            <input
              value={name.value}
              placeholder={`${title}: ${words}`}
              onInput={(event) => {
                name.value = event.currentTarget.value;
              }}
            />
          </label>
          <button type="submit" class="main">
            Save
          </button>
        </form>
      )}
    </Menu>
  );
}

/** How many labels are offered as columns. */
const mostLabels = 30;

interface ColumnsProps {
  readonly listKey: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

function ColumnsMenu(props: ColumnsProps) {
  return (
    <Menu
      label={
        <>
          <Icon name="columns" /> Columns
        </>
      }
      title="Choose columns"
    >
      {() => <ColumnChoices {...props} />}
    </Menu>
  );
}

function ColumnChoices({ listKey, columns, rows }: ColumnsProps) {
  const settings = settingsOf(listKey);
  const { hidden, isWide, labels } = settings;
  const known = new Set([...labels, ...rows.slice(0, 500).flatMap((row) => Object.keys(row.labels))]);
  const flip = (list: readonly string[], name: string) =>
    list.includes(name) ? list.filter((each) => each !== name) : [...list, name];
  const wide = columns.filter(({ priority }) => priority > 0).map(({ name }) => name);
  return (
    <>
      <fieldset>
        <legend>Columns</legend>
        {wide.length > 0 && (
          <Tick
            name={`Wide: ${wide.join(', ')}`}
            isOn={isWide}
            flip={() => changeSettings(listKey, { isWide: !isWide })}
          />
        )}
        {columns
          .filter(({ priority }, index) => index > 0 && (isWide || priority === 0))
          .map(({ name }) => (
            <Tick
              key={name}
              name={name}
              isOn={!hidden.includes(name)}
              flip={() => changeSettings(listKey, { hidden: flip(hidden, name) })}
            />
          ))}
      </fieldset>
      {known.size > 0 && (
        <fieldset>
          <legend>Labels as columns</legend>
          {[...known]
            .sort()
            .slice(0, mostLabels)
            .map((name) => (
              <Tick
                key={name}
                name={name}
                isOn={labels.includes(name)}
                flip={() => changeSettings(listKey, { labels: flip(labels, name) })}
              />
            ))}
        </fieldset>
      )}
    </>
  );
}

function Tick({ name, isOn, flip }: { readonly name: string; readonly isOn: boolean; readonly flip: () => void }) {
  return (
    <label class="tick">
      <input type="checkbox" checked={isOn} onChange={flip} />
      <span>{name}</span>
    </label>
  );
}
