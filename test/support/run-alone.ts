// A run of `agent-gateway run` without a gateway, in a folder of its own.
import { loadConfig } from '../../src/app/config.ts'
import type { Holder } from '../../src/cli/run/held.ts'

/** Has a capability for nobody, and gives everything back. */
export const EMPTY_HOLDER: Holder = {
  providers: new Set(),
  covers: async () => true,
  find: async () => undefined,
  made: () => [],
  end: async () => 0,
}

/** @param program the text of a module for Node */
export const runIn = (folder: string, program: string) => ({
  config: loadConfig({ GATEWAY_DATA_DIR: folder }),
  isSandboxed: false,
  secretFiles: [],
  command: [process.execPath, '--input-type=module', '-e', program],
  env: { PATH: process.env['PATH'], TMPDIR: folder, HOME: folder },
})
