// The doctor as a gateway that runs has it: the same checks, of its own configuration.
import type { Doctor } from '../../../tools/services.ts'
import type { Platform } from '../platform.ts'
import { localUrl } from '../running.ts'
import { ok } from './finding.ts'

/** @param port on which this process listens */
export const createDoctor = ({ config }: Pick<Platform, 'config'>, port: number): Doctor => ({
  async examine() {
    // What looks at chains and at key files is loaded when somebody asks.
    const { examineAll } = await import('./examine.ts')
    const running = { pid: process.pid, url: localUrl(config, port) }
    return [ok('configuration', `${config.mode} mode`), ...(await examineAll({ config, running }))]
  },
})
