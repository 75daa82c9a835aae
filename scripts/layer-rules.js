/** The faults of the rows themselves, and the imports that break them: one line for each. Paths are below src. */
export function layerProblems(layers, sources) {
  const rows = new Map(layers.map((row) => [row.folder, row]));
  return [
    ...rowProblems(layers),
    ...sources.flatMap((source) => sourceProblems(rows, source)),
    ...importCircles(sources).map((circle) => `src/${circle.join(', ')}: these files import each other in a circle`),
  ];
}

/** Import cycles, including imports of types only: a list of files for each, in order of their names. */
export function importCircles(sources) {
  const withoutEnd = (path) => path.replace(/\.[cm]?[jt]sx?$/, '');
  const files = new Map(sources.map(({ file }) => [withoutEnd(file), file]));
  const imports = new Map(
    sources.map((source) => [
      source.file,
      source.imports.map((path) => files.get(withoutEnd(path))).filter((file) => file !== undefined),
    ]),
  );
  return connected(imports)
    .filter((files) => files.length > 1)
    .map((files) => files.sort());
}

/** The strongly connected parts of a graph, by Tarjan's algorithm. */
function connected(edges) {
  const order = new Map();
  const lowest = new Map();
  const open = new Set();
  const parts = [];
  const visit = (node) => {
    const index = order.size;
    order.set(node, index);
    lowest.set(node, index);
    open.add(node);
    for (const next of edges.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (open.has(next)) lowest.set(node, Math.min(lowest.get(node), lowest.get(next)));
    }
    if (lowest.get(node) !== index) return;
    const part = [...open].filter((other) => order.get(other) >= index);
    for (const other of part) open.delete(other);
    parts.push(part);
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return parts;
}

/** The rows as a table in Markdown. */
export function layersTable(layers) {
  const names = (list) => list.map((name) => `\`${name}\``).join(', ') || '–';
  const lines = layers.map(({ folder, imports, wiring = [] }) => {
    const modules = wiring.length === 0 ? '' : `; its modules also ${names(wiring)}`;
    return `| \`${folder}\` | ${names(imports)}${modules} |`;
  });
  return ['| Folder of `src` | imports |', '| --- | --- |', ...lines, ''].join('\n');
}

function rowProblems(layers) {
  const problems = [];
  const above = new Set();
  for (const { folder, imports, wiring = [] } of layers) {
    if (above.has(folder)) problems.push(`scripts/layers.js: ${folder} has two rows`);
    for (const name of [...imports, ...wiring]) {
      if (!above.has(name))
        problems.push(`scripts/layers.js: ${folder} may not import ${name}, whose row is not above`);
    }
    above.add(folder);
  }
  return problems;
}

function sourceProblems(rows, { file, imports }) {
  const own = rowOf(rows, file.replace(/\.spec\.ts$/, '.ts'));
  if (own === undefined) return [`src/${file}: its folder has no row in scripts/layers.js`];
  if (/\.spec\.tsx?$|\/testing\//.test(file)) return [];
  const allowed = new Set([...own.imports, ...(file.endsWith('.module.ts') ? (own.wiring ?? []) : [])]);
  return imports.flatMap((path) => {
    const target = rowOf(rows, path.replace(/\.([cm]?)js$/, '.$1ts'));
    if (target === undefined) return [`src/${file}: ${path} has no row in scripts/layers.js`];
    if (own.separate && target === own) return separateProblems(own, file, path);
    if (target === own || allowed.has(target.folder) || isPartAbove(rows, own, target, file)) return [];
    return [`src/${file}: ${own.folder} may not import ${target.folder} (${path})`];
  });
}

/** Whether both rows belong to one folder and the target is above; the folder's modules may import all its parts. */
function isPartAbove(rows, own, target, file) {
  if ((own.of ?? own.folder) !== (target.of ?? target.folder)) return false;
  const order = [...rows.values()];
  return file.endsWith('.module.ts') || order.indexOf(target) < order.indexOf(own);
}

/** Reports imports between folders below a row with `separate`, such as the groups of the API. */
function separateProblems(own, file, path) {
  const below = (name) => (name.startsWith(`${own.folder}/`) ? name.slice(own.folder.length + 1).split('/') : []);
  const [from, ...restOfFrom] = below(file);
  const [to, ...restOfTo] = below(path);
  if (restOfFrom.length === 0 || restOfTo.length === 0 || from === to) return [];
  return [`src/${file}: ${own.folder}/${from} may not import ${own.folder}/${to} (${path})`];
}

function rowOf(rows, path) {
  for (let name = path; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('/')))) {
    const row = rows.get(name);
    if (row !== undefined) return row;
  }
  return undefined;
}
