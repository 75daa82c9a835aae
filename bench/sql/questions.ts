import { readFileSync } from 'node:fs';

/** A question of a page, as it stands in a block of SQL: a comment that asks, and the statement that answers. */
export interface Question {
  readonly page: string;
  readonly asks: string;
  readonly sql: string;
}

/** All statements with a comment before them in the section `## Questions` of a page. */
export function questionsOf(page: string): Question[] {
  const text = readFileSync(page, 'utf8');
  const [, section = ''] = /^## Questions\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text) ?? [];
  return [...section.matchAll(/^```sql\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block
      .split(/;\s*\n/)
      .map((part) => part.trim())
      .filter((part) => part.startsWith('--'))
      .map((part) => {
        const lines = part.split('\n');
        const isComment = (line: string) => line.startsWith('--');
        const asks = lines
          .filter(isComment)
          .map((line) => line.slice(2).trim())
          .join(' ');
        return { page, asks, sql: lines.filter((line) => !isComment(line)).join('\n') };
      }),
  );
}
