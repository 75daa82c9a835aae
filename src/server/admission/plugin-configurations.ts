import type { AdmissionConfiguration, PluginConfiguration } from '../../base/config/admission-configuration.js';

/** The configurations of the plugins. Plugins fetch them while the chain is built. */
export class PluginConfigurations {
  private readonly read = new Set<string>();

  constructor(private readonly configuration: AdmissionConfiguration) {}

  /**
   * The configuration of a plugin; undefined when it has none. A plugin that never calls this accepts no configuration.
   */
  of(plugin: string): PluginConfiguration | undefined {
    this.read.add(plugin);
    return this.configuration.plugins[plugin];
  }

  /**
   * The faults of the file, including configurations that no plugin fetched: an administrator would believe that those
   * are in force.
   */
  problems(selected: readonly string[]): string[] {
    const unread = Object.entries(this.configuration.plugins).filter(([plugin]) => !this.read.has(plugin));
    return [
      ...this.configuration.problems,
      ...unread.map(([plugin, { source }]) =>
        selected.includes(plugin)
          ? `${source}: the admission plugin ${plugin} takes no configuration`
          : `${source}: the admission plugin ${plugin} does not run; name it in --enable-admission-plugins`,
      ),
    ];
  }
}
