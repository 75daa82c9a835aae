// The settings of nest-cli.json, for the build and the generator.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param {string} root folder of the project */
export function nestConfig(root) {
  const config = JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8'));
  const { sourceRoot, compilerOptions = {}, generateOptions = {} } = config;
  return {
    sourceRoot,
    project: compilerOptions.tsConfigPath,
    deleteOutDir: compilerOptions.deleteOutDir === true,
    spec: generateOptions.spec !== false,
  };
}
