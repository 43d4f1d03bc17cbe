// A gateway, and what `agent-gateway run` is started with to reach it.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestGateway, type TestGateway } from './gateway.ts'
import { removeFolder } from './remove-folder.ts'

export interface RunCommand {
  readonly gateway: TestGateway
  /** Home and folder for temporary files of the command. */
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

export async function startRunCommand(): Promise<RunCommand> {
  const gateway = await startTestGateway()
  const folder = await mkdtemp(join(tmpdir(), 'agent-gateway-'))
  return {
    gateway,
    folder,
    env: {
      GATEWAY_BASE_URL: gateway.baseUrl,
      GATEWAY_OPERATOR_KEY: gateway.operatorKey,
      GATEWAY_DATA_DIR: join(folder, 'data'),
      GATEWAY_EGRESS_PORTS: gateway.env['GATEWAY_EGRESS_PORTS']!,
      GATEWAY_DNS_SERVERS: gateway.env['GATEWAY_DNS_SERVERS']!,
      TMPDIR: folder,
      HOME: folder,
    },
    async close() {
      await gateway.close()
      await removeFolder(folder)
    },
  }
}
