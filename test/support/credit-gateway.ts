// The whole gateway in a process of its own, with a tool whose calls cost credits. Started by the crash suite.
import { loadConfig } from '../../src/app/config.ts'
import { startGateway } from '../../src/app/gateway.ts'
import { createLogger } from '../../src/lib/log.ts'
import { tools } from '../../tools/index.ts'
import { shout } from './credit-tool.ts'

const config = loadConfig(process.env)
const gateway = await startGateway(config, createLogger('error'), { tools: [...tools, shout] })
process.stdout.write(`listening on ${gateway.addresses.baseUrl}\n`)
