// Compose files, the Kustomize base and the units, each by the program that reads it.
import { copyFile, readFile, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { checkKubernetesObjects } from '../support/kubernetes-schema.ts'
import { finish } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'

const deploy = new URL('../../deploy/', import.meta.url).pathname
const given = process.env['TEST_IMAGE_PROGRAMS']
if (given === undefined)
  throw new Error('start these with `npm run test:image`, which says where the programs are')
const programs = resolve(given)
const COMPOSE = join(programs, 'usr/libexec/docker/cli-plugins/docker-compose')
const KUSTOMIZE = join(programs, 'usr/bin/kustomize')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-manifests-'))
})
afterAll(() => removeFolder(folder))

describe('compose', () => {
  const env = {
    PATH: process.env['PATH'],
    PUBLIC_NAME: 'gateway.example.com',
    DATABASE_PASSWORD: 'password',
    GATEWAY_BASE_URL: 'https://gateway.example.com',
  }
  const check = (file: string, given: NodeJS.ProcessEnv = env) =>
    finish(COMPOSE, ['-f', file, 'config', '--quiet'], { env: given, cwd: folder })

  it.each(['gateway', 'postgres'])(
    '%s.yaml is valid, and a slip or a missing setting is found',
    async (name) => {
      const file = join(deploy, `compose/${name}.yaml`)
      expect(await check(file)).toEqual({ code: 0, stdout: '', stderr: '' })
      const bare = await check(file, { PATH: env.PATH })
      expect([bare.code, bare.stderr]).toEqual([
        1,
        expect.stringMatching(/required variable \w+ is missing a value: \w.{20,}/),
      ])
      const spoiled = join(folder, `${name}.yaml`)
      await writeFile(spoiled, (await readFile(file, 'utf8')).replace('read_only:', 'readonly:'))
      const slip = await check(spoiled)
      expect([slip.code, slip.stderr]).toEqual([
        1,
        expect.stringMatching(/additional properties 'readonly' not allowed/),
      ])
    },
  )

  it.each(['gateway', 'postgres'])(
    '%s.yaml gives the gateway what stands in .env beside it',
    async (name) => {
      const beside = await mkdtemp(join(folder, 'compose-'))
      const file = join(beside, `${name}.yaml`)
      await copyFile(join(deploy, `compose/${name}.yaml`), file)
      const settings = {
        GATEWAY_OPERATOR_KEY: 'a-service-key',
        GATEWAY_RPC_8453: 'https://rpc.example.com',
        GATEWAY_TRUST_PROXY: '2',
      }
      const lines = Object.entries({ ...env, ...settings }).map(([key, value]) => `${key}=${value}`)
      await writeFile(join(beside, '.env'), lines.join('\n'))
      const { code, stdout, stderr } = await finish(COMPOSE, ['-f', file, 'config', '--format', 'json'], {
        env: { PATH: env.PATH },
        cwd: beside,
      })
      expect([code, stderr]).toEqual([0, ''])
      const { services } = JSON.parse(stdout) as { services: { gateway: { environment: unknown } } }
      expect(services.gateway.environment).toMatchObject({
        ...settings,
        GATEWAY_BASE_URL: 'https://gateway.example.com',
      })
    },
  )

  it('its Caddyfile is valid', async () => {
    const { code, stderr } = await finish(
      '/usr/bin/caddy',
      ['validate', '--adapter', 'caddyfile', '--config', join(deploy, 'compose/Caddyfile')],
      { env: { ...env, HOME: folder } },
    )
    expect(code, stderr).toBe(0)
  })
})

describe('Kustomize', () => {
  it('builds the base, of objects of the API alone, in one namespace and of one image', async () => {
    const { code, stdout, stderr } = await finish(KUSTOMIZE, ['build', join(deploy, 'kubernetes/base')])
    expect([code, stderr]).toEqual([0, ''])
    expect(checkKubernetesObjects({ built: stdout })).toEqual([])
    const objects = parseAllDocuments(stdout).map(
      (document) => document.toJS() as { kind: string; metadata: { namespace?: string } },
    )
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Namespace',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ])
    for (const { kind, metadata } of objects)
      expect(metadata.namespace).toBe(kind === 'Namespace' ? undefined : 'agent-gateway')
    expect(stdout.match(/image: .*/g)).toEqual(
      Array(2).fill('image: registry.example.com/agent-gateway:5.0.2'),
    )
    // Files of a secret: 0440.
    expect(stdout).toContain('defaultMode: 288')
  })
})

describe('systemd', () => {
  it.each(['agent-gateway.service', 'agent-gateway@.service'])(
    '%s is at most 1.5 of 10 exposed',
    async (unit) => {
      const file = join(deploy, 'systemd', unit)
      const { code, stdout, stderr } = await finish('systemd-analyze', [
        'security',
        '--offline=yes',
        '--no-pager',
        '--threshold=15',
        file,
      ])
      expect(code, stdout + stderr).toBe(0)
      expect(stdout).toMatch(/Overall exposure level for agent-gateway(?:@i)?\.service: 1\.\d/)
      // A line that it does not know is a warning.
      expect(stderr).toBe('')
    },
  )
})
