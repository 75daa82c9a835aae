/** What is wrong with the rows themselves, and with the imports by them: one line for each. Paths are below src. */
export function layerProblems(layers, sources) {
  const rows = new Map(layers.map((row) => [row.folder, row]));
  return [...rowProblems(layers), ...sources.flatMap((source) => sourceProblems(rows, source))];
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
    if (target === own || allowed.has(target.folder) || (own.of ?? own.folder) === (target.of ?? target.folder))
      return [];
    return [`src/${file}: ${own.folder} may not import ${target.folder} (${path})`];
  });
}

/** Folders below a row with `separate` don't import each other, such as the groups of the API. */
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
