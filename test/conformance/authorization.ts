// Runs the authorization part of the official MCP suite against the gateway's own authorization server, and prints `N passed, N failed`. The
// suite prints an address and waits at a port of its own: a scripted browser in which a person is signed in opens it and says yes.
import '../support/tsx-hook.mjs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createConsenter } from '../support/consenter.ts'
import { startTestGateway } from '../support/gateway.ts'
import { register } from '../support/oauth.ts'
import { suiteProgram } from './suite.ts'
import { freePort } from '../support/free-port.ts'

/** What the suite has for authorization servers: metadata, CIMD and the code grant. Fewer would be a suite that did not run. */
const CHECKS = 3

const gateway = await startTestGateway()
let passed = 0
let failed = 0
try {
  const { credentialId } = await gateway.grant()
  const consenter = await createConsenter(gateway, { use: [credentialId] })
  const port = await freePort()
  const { client_id: clientId } = await register(gateway.baseUrl, {
    redirect_uris: [`http://127.0.0.1:${port}/callback`],
  })
  const suite = spawn(
    process.execPath,
    [
      suiteProgram,
      'authorization',
      '--url',
      gateway.baseUrl,
      '--client-id',
      clientId,
      '--resource',
      `${gateway.baseUrl}/mcp`,
      '--port',
      String(port),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const said: string[] = []
  for (const stream of [suite.stdout, suite.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      said.push(line)
      const [url] = /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(line) ?? []
      if (url !== undefined)
        consenter.allow(url).then(
          (back) => fetch(back),
          (thrown: unknown) => {
            console.error(thrown)
            suite.kill()
          },
        )
    })
  const [code] = (await once(suite, 'exit')) as [number | null]
  const output = said.join('\n')
  for (const [, good = '0', bad = '0'] of output.matchAll(/(\d+) passed, (\d+) failed/g)) {
    passed = Math.max(passed, Number(good))
    failed = Math.max(failed, Number(bad))
  }
  if (code !== 0 || passed < CHECKS) failed = Math.max(failed, 1)
  if (failed > 0 || process.argv.includes('--verbose')) console.log(output)
} catch (thrown) {
  failed++
  console.error(thrown)
} finally {
  await gateway.close()
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
