// The image as something installed: the same commands, each in a container that is shown one folder of the machine.
import { lchown, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Container, podman, runInImage, startContainer } from './container.ts'
import type { Installed } from './installed.ts'

/** Who the image runs as; without capabilities nobody else's key files can be read. */
const USER = 65532
const PROGRAM = ['/usr/bin/node', '/opt/agent-gateway/dist/launcher.js']
const POLL_MS = 100

/** @param folder of data and files, at the same place in each container; it is handed to the user of the image */
export function installedInImage(folder: string): Installed {
  const volumes = [`${folder}:${folder}`]
  async function handOver(): Promise<void> {
    await lchown(folder, USER, USER)
    for (const name of await readdir(folder, { recursive: true }))
      await lchown(join(folder, name), USER, USER)
  }
  return {
    async run(args, env, input) {
      await handOver()
      return runInImage([...PROGRAM, ...args], { env, volumes }, input)
    },
    async serve(env) {
      await handOver()
      const container = await startContainer({ env, volumes })
      const { url, logs } = await listening(container)
      let code: number | undefined
      return {
        url,
        log: () => logs,
        async stop() {
          if (code !== undefined) return code
          await podman('kill', '--signal=TERM', container.name)
          code = await container.ended()
          await container.remove()
          return code
        },
      }
    },
  }
}

async function listening(container: Container): Promise<{ url: string; logs: string }> {
  for (;;) {
    const logs = await container.logs()
    const [, url] = /^listening on (\S+)$/m.exec(logs) ?? []
    if (url !== undefined) return { url, logs }
    if ((await podman('inspect', '--format={{.State.Status}}', container.name)) === 'exited')
      throw new Error(`the gateway ended: ${logs}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
