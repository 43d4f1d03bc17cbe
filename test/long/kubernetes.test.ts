// The Kustomize base of deploy/kubernetes: every object is one of the API, with no field that it does not have, and says what we promise of it.
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkKubernetesObjects } from '../support/kubernetes-schema.ts'

const base = new URL('../../deploy/kubernetes/base/', import.meta.url).pathname
const kustomization = 'kustomization.yaml'
const manifests = Object.fromEntries(
  globSync('*.yaml', { cwd: base })
    .filter((name) => name !== kustomization)
    .map((name) => [name, readFileSync(base + name, 'utf8')]),
)
const DEPLOYMENT = 'deployment.yaml'
/** Slips that the API server would refuse, or worse, pass over. */
const SLIPS = [
  [DEPLOYMENT, 'readOnlyRootFilesystem', 'readOnlyRootFileSystem'],
  [DEPLOYMENT, 'terminationGracePeriodSeconds: 90', 'terminationGracePeriodSeconds: 90s'],
  [DEPLOYMENT, 'maxSkew: 1', 'maxSkews: 1'],
  [DEPLOYMENT, 'name: agent-gateway\n', 'nam: agent-gateway\n'],
  ['service-account.yaml', 'automountServiceAccountToken', 'automountServiceAccountTokens'],
  ['autoscaler.yaml', 'averageUtilization', 'averageUtilisation'],
  ['disruption-budget.yaml', 'maxUnavailable', 'maxUnavailible'],
  ['network-policy.yaml', 'except:', 'excepts:'],
  // Not within the cidr: equal to it, of another family, elsewhere, and IPv4-mapped, which is in no network of IPv6.
  ['network-policy.yaml', '10.0.0.0/8', '0.0.0.0/0'],
  ['network-policy.yaml', '10.0.0.0/8', 'fc00::/7'],
  ['network-policy.yaml', 'cidr: 0.0.0.0/0', 'cidr: 10.0.0.0/7'],
  ['network-policy.yaml', '64:ff9b::/96', '::ffff:0:0/96'],
  ['network-policy.yaml', '64:ff9b::/96', '64:ff9b::/129'],
  ['service.yaml', 'targetPort', 'targetport'],
] as const

describe('the Kustomize base', () => {
  it('lists every file that is there', () => {
    const { resources } = parse(readFileSync(base + kustomization, 'utf8')) as { resources: string[] }
    expect(resources.toSorted()).toEqual(Object.keys(manifests).toSorted())
  })

  it('holds objects of the API and nothing else', () => {
    expect(checkKubernetesObjects(manifests)).toEqual([])
  })

  it('would not pass with a slip in a field or its value', () => {
    const spoiled = SLIPS.map(([name, from, to], i) => {
      const text = manifests[name]!
      expect(text).toContain(from)
      return [`slip ${i}`, text.replace(from, to)] as const
    })
    const faults = checkKubernetesObjects(Object.fromEntries(spoiled))
    expect(SLIPS.filter((_, i) => !faults.some((fault) => fault.startsWith(`slip ${i}:`)))).toEqual([])
  })

  it('has rules for what some settings need, as comments that are of the API as well', () => {
    const text = manifests['network-policy.yaml']!.replaceAll(/^( *)#(?=-|  )/gm, '$1')
    expect(checkKubernetesObjects({ text })).toEqual([])
    const opened = (policy: string) => {
      const { ingress, egress } = (parse(policy) as { spec: Record<'ingress' | 'egress', Rule[]> }).spec
      return [ingress, egress].map((rules) => rules.flatMap(({ ports }) => ports.map(({ port }) => port)))
    }
    expect(opened(manifests['network-policy.yaml']!)).toEqual([['http'], [53, 53, 5432, 443]])
    expect(opened(text)).toEqual([
      ['http', 9464],
      [53, 53, 5432, 443, 8200, 6379, 4318, 465, 587],
    ])
  })

  it('asks for pods that a restricted namespace takes: not root, nothing writable, no capability, no token', () => {
    const { template } = (parse(manifests[DEPLOYMENT]!) as Deployment).spec
    expect(template.spec).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    })
    const containers = [...template.spec.initContainers, ...template.spec.containers]
    expect(containers).toHaveLength(2)
    for (const { securityContext } of containers)
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
  })
})

interface Rule {
  readonly ports: readonly { readonly port: number | string }[]
}

interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: Record<'initContainers' | 'containers', readonly { readonly securityContext: unknown }[]>
    }
  }
}
