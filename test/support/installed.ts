// A gateway as a stranger has it: a command that was installed into a folder of its own, and knows nothing of this repository.
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ANVIL_PINS, ANVIL_VERSION } from '../../src/sandbox/anvil-pins.ts'
import { type Finished, finish, start } from './process.ts'

export type Variables = Readonly<Record<string, string>>

export interface Serving {
  readonly url: string
  /** What its process has logged so far. */
  log(): string
  /** Asks it to end, and waits for it. Resolves with the exit code; a second time nothing happens. */
  stop(): Promise<number | null>
}

export interface Installed {
  /** Runs a command to its end, with `input` on stdin. */
  run(args: readonly string[], env: Variables, input?: string): Promise<Finished>
  /** Resolves when the gateway listens. Whoever starts it stops it. */
  serve(env: Variables): Promise<Serving>
}

/**
 * @param command the file that npm linked, `…/bin/agent-gateway`
 * @param options.env what every process of it gets besides: PATH, and PORT where the calls name none
 * @param options.cwd where they run, which is nowhere near a package
 */
export function installedAt(
  command: string,
  options: { readonly env: Variables; readonly cwd: string },
): Installed {
  const { cwd } = options
  const withOwn = (env: Variables) => ({ ...options.env, ...env })
  return {
    run: (args, env, input) =>
      finish(command, args, { env: withOwn(env), cwd, ...(input !== undefined && { input }) }),
    async serve(env) {
      const gateway = start(command, ['serve'], { env: withOwn(env), cwd })
      const [, url = ''] = await gateway.until('stdout', /^listening on (\S+)$/m)
      return {
        url,
        log: gateway.stderr,
        async stop() {
          gateway.kill('SIGTERM')
          return (await gateway.ended).code
        },
      }
    },
  }
}

/** Puts the node of the sandbox's chains where `sandbox install` of this release puts it; the network is not there to get it. */
export async function putAnvil(dataDir: string): Promise<void> {
  const pin = ANVIL_PINS[`${process.platform}-${process.arch}`]!.name
  const to = join(dataDir, 'programs', `anvil-${ANVIL_VERSION}`, 'node_modules', pin)
  await mkdir(to, { recursive: true })
  await cp(fileURLToPath(new URL(`../../node_modules/${pin}`, import.meta.url)), to, { recursive: true })
}
