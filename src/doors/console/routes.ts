// The addresses of the console's pages, who may see them, and where they stand in the menu. Nothing here loads a page.
import type { Role } from '../../../schemas/role.ts'

export interface ConsoleRoute {
  /** OpenAPI style, without the language. */
  readonly path: string
  readonly takesForm?: boolean
  /** It is for whoever is not signed in yet, too. */
  readonly isOpen?: boolean
  /** Roles that may see it besides owners; everybody but sellers where nothing is said. */
  readonly roles?: readonly Role[]
  /** Of the installation: for members of its first account alone. */
  readonly isForAdmin?: boolean
  /** The group of the menu that it stands in; a page without one is reached from another. */
  readonly group?: 'now' | 'access' | 'records' | 'money' | 'rules' | 'house'
}

const FORM = { takesForm: true } as const
const OPERATORS: readonly Role[] = ['operator']
const EVERYBODY: readonly Role[] = ['operator', 'approver', 'seller', 'auditor']

export const CONSOLE_ROUTES = {
  overview: { path: '/console', group: 'now' },
  inbox: { path: '/console/inbox', group: 'now', ...FORM },
  approval: { path: '/console/inbox/{permit_id}', ...FORM },
  live: { path: '/console/live', group: 'now' },
  charts: { path: '/console/charts', group: 'now' },

  connections: { path: '/console/connections', group: 'access', ...FORM },
  connection: { path: '/console/connections/{connection_id}', ...FORM },
  capabilities: { path: '/console/capabilities', group: 'access', ...FORM },
  credentials: { path: '/console/credentials', group: 'access', ...FORM },
  newCredential: { path: '/console/credentials/new', roles: OPERATORS, ...FORM },
  credential: { path: '/console/credentials/{credential_id}', ...FORM },
  providers: { path: '/console/providers', group: 'access' },
  mandates: { path: '/console/mandates', group: 'access', ...FORM },

  attempts: { path: '/console/attempts', group: 'records', ...FORM },
  attempt: { path: '/console/attempts/{attempt_id}', ...FORM },
  permits: { path: '/console/permits', group: 'records', ...FORM },
  payments: { path: '/console/payments', group: 'records', isForAdmin: true, ...FORM },
  payment: { path: '/console/payments/{claim_id}', isForAdmin: true, ...FORM },
  edge: { path: '/console/edge', group: 'records', ...FORM },
  tasks: { path: '/console/tasks', group: 'records', ...FORM },
  task: { path: '/console/tasks/{task_id}' },

  money: { path: '/console/money', group: 'money' },
  ledger: { path: '/console/ledger', group: 'money', ...FORM },
  settlement: { path: '/console/settlement', group: 'money', isForAdmin: true },
  moderation: { path: '/console/moderation', group: 'money', isForAdmin: true, ...FORM },
  payouts: { path: '/console/payouts', group: 'money', isForAdmin: true, ...FORM },

  selling: { path: '/console/selling', group: 'money', roles: EVERYBODY, ...FORM },

  policies: { path: '/console/policies', group: 'rules', isForAdmin: true },
  policy: { path: '/console/policies/{policy}', isForAdmin: true, ...FORM },
  notifications: { path: '/console/notifications', group: 'rules', ...FORM },

  people: { path: '/console/people', group: 'house', ...FORM },
  keys: { path: '/console/keys', group: 'house', ...FORM },
  provider: { path: '/console/identity-provider', group: 'house', isForAdmin: true, roles: [], ...FORM },
  audit: { path: '/console/audit', group: 'house', ...FORM },
  doctor: { path: '/console/doctor', group: 'house', isForAdmin: true, ...FORM },
  backup: { path: '/console/backup', group: 'house', isForAdmin: true, ...FORM },
  settings: { path: '/console/settings', group: 'house', isForAdmin: true, ...FORM },

  gatewayKeys: { path: '/console/gateway-keys', group: 'house', isForAdmin: true, ...FORM },
  tools: { path: '/console/tools', group: 'house', roles: EVERYBODY },
  tool: { path: '/console/tools/{name}', roles: EVERYBODY, ...FORM },

  me: { path: '/console/me', roles: EVERYBODY, ...FORM },
  signIn: { path: '/console/sign-in', isOpen: true, ...FORM },
  signInCallback: { path: '/console/sign-in/callback', isOpen: true },
  join: { path: '/console/join', isOpen: true, ...FORM },
  connect: { path: '/console/connect/{uid}', ...FORM },
  device: { path: '/console/device', ...FORM },
} as const satisfies Record<string, ConsoleRoute>

export type ConsolePageName = keyof typeof CONSOLE_ROUTES

const SEEN_BY_ALL: readonly Role[] = ['operator', 'approver', 'auditor']

/** Whether somebody of this role may see the page. */
export function maySee(
  name: ConsolePageName,
  { role, admin }: { readonly role: Role; readonly admin: boolean },
): boolean {
  const route: ConsoleRoute = CONSOLE_ROUTES[name]
  if (route.isOpen) return true
  if (route.isForAdmin && !admin) return false
  return role === 'owner' || (route.roles ?? SEEN_BY_ALL).includes(role)
}
