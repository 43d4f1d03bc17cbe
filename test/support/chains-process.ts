// A gateway's share of the sandbox chains in a process of its own, to be killed: prints where its chain listens.
import { createLogger } from '../../src/lib/log.ts'
import { openSandboxChains } from '../../src/sandbox/chains.ts'

const [dataDir] = process.argv.slice(2)
const log = createLogger('silent', { write: () => {} })
const chains = await openSandboxChains({ dataDir: dataDir!, log, now: Date.now })
process.stdout.write(`${await chains.rpcUrl(84532)}\n`)
// Until it is killed, or told to end in good order.
process.stdin.once('end', () => void chains.close().then(() => process.exit(0)))
process.stdin.resume()
