import { Dialog } from './dialog.js';
import { helpShown, showHelp } from './help.js';
import { keyHelp } from './keys.js';

export function HelpDialog() {
  if (!helpShown.value) return null;
  return (
    <Dialog title="Keys" close={() => showHelp(false)}>
      <table class="plain">
        <tbody>
          {keyHelp.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
