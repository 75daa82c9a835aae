// Fails when package-lock.json has an entry whose content npm would install without checking it.
import { readFileSync } from 'node:fs';

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
// The project itself and links to its folders are not downloaded.
const unchecked = Object.entries(packages).filter(([path, { integrity, link }]) => path !== '' && !integrity && !link);
for (const [path] of unchecked) console.error(`package-lock.json: ${path} has no integrity hash`);
process.exitCode = unchecked.length === 0 ? 0 : 1;
