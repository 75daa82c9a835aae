// Writes docs/flags.md from the flags that the compiled program declares.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const { flagsPage } = await import('../dist/test/support/flags-page.js');
writeFileSync(fileURLToPath(new URL('../docs/flags.md', import.meta.url)), flagsPage());
process.exit();
