/** The manifests for Kubernetes: valid for the real schemas, sound for a linter, and closed where they must be. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../../tools/deploy/programs.mjs';
import { repositoryRoot, type Json } from '../harness/sandbox.ts';
import { location, writeSchemas } from './schemas.ts';

setDefaultTimeout(120_000);

const kubernetes = join(repositoryRoot, 'deploy/kubernetes');
const variants = ['base', 'browser', 'computer'];
const runtimes = ['gvisor', 'kata'];
const withAgentSandbox = 'base in agent-sandbox';
const folder = mkdtempSync(join(tmpdir(), 'boxkeep-deploy-'));
/** The text of each set of manifests, as `kubectl apply -k` sends them. */
const built = new Map<string, string>();

beforeAll(() => {
  writeSchemas(join(folder, 'schemas'));
  for (const name of [...variants, 'claim']) built.set(name, kustomize(join(kubernetes, name)));
  for (const variant of variants)
    for (const runtime of runtimes) built.set(`${variant} in ${runtime}`, withComponent(variant, runtime));
  built.set(withAgentSandbox, withComponent('base', 'agent-sandbox'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string[], input = ''): { code: number; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: Buffer.from(input) });
  return { code: exitCode, output: `${stdout.toString()}${stderr.toString()}` };
}

function kustomize(path: string): string {
  const { code, output } = run([program('kustomize'), 'build', path]);
  if (code !== 0) throw new Error(output);
  return output;
}

/** A kustomization of a user, as docs/guide/fleet.md shows it. kustomize takes relative paths only. */
function withComponent(variant: string, component: string): string {
  const own = mkdtempSync(join(folder, 'own-'));
  const up = '../'.repeat(own.split('/').length - 1).slice(0, -1);
  const lines = [
    ...['apiVersion: kustomize.config.k8s.io/v1beta1', 'kind: Kustomization'],
    ...[`resources: [${up}${kubernetes}/${variant}]`, `components: [${up}${kubernetes}/${component}]`],
    `images: [{name: boxkeep/base, newName: images.example/base}]`,
  ];
  writeFileSync(join(own, 'kustomization.yaml'), lines.join('\n'));
  return kustomize(own);
}

function objects(name: string): Json[] {
  return [Bun.YAML.parse(built.get(name) ?? '') as Json].flat();
}

function find(name: string, kind: string): Json {
  const found = objects(name).find((object: Json) => object.kind === kind);
  if (!found) throw new Error(`${name} has no ${kind}`);
  return found;
}

/** The pod that the controller makes from the template. */
function podOf(name: string): Json {
  const { podTemplate } = find(name, 'SandboxTemplate').spec;
  const metadata = { ...podTemplate.metadata, name: 'sandbox', namespace: 'boxkeep' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: podTemplate.spec };
}

function kubeconform(text: string): { code: number; output: string } {
  const schemas = join(folder, 'schemas', location);
  return run([program('kubeconform'), '-strict', '-summary', '-schema-location', schemas], text);
}

test('DEPLOY-VALID every set of manifests is valid for Kubernetes and for agent-sandbox', () => {
  expect(built.size).toBe(variants.length * (1 + runtimes.length) + 2);
  for (const [name, text] of built) {
    const { code, output } = kubeconform(text);
    expect([name, code, output]).toEqual([name, 0, expect.stringContaining('Invalid: 0, Errors: 0, Skipped: 0')]);
  }
});

test.each([
  ['a misspelt field of a template', 'podTemplate:', 'podTemplates:'],
  ['a misspelt field of a container', 'containerPort:', 'containersPort:'],
  ['a value that the definition does not list', 'Unmanaged', 'None'],
  ['a number of replicas that is a word', 'replicas: 2', 'replicas: two'],
])('DEPLOY-VALID %s is refused', (_title, right, wrong) => {
  const text = (built.get('base') ?? '').replace(right, wrong);
  expect(text).toContain(wrong);
  expect(kubeconform(text).output).toContain('Valid: 3, Invalid: 1, Errors: 0, Skipped: 0');
});

test('DEPLOY-VALID the pool of each variant names the template of the variant', () => {
  for (const variant of variants) {
    const name = variant === 'base' ? 'boxkeep' : `boxkeep-${variant}`;
    expect(find(variant, 'SandboxTemplate').metadata.name).toBe(name);
    expect(find(variant, 'SandboxWarmPool').spec.sandboxTemplateRef.name).toBe(name);
  }
});

test('DEPLOY-POLICY only port 8080 of a sandbox is reachable, and never the DevTools port or the worker', () => {
  for (const variant of variants) {
    const { spec } = find(variant, 'NetworkPolicy');
    const { labels } = podOf(variant).metadata;
    expect(labels).toMatchObject(spec.podSelector.matchLabels);
    expect(spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(spec.ingress.flatMap((rule: Json) => rule.ports)).toEqual([{ port: 8080, protocol: 'TCP' }]);
    expect(spec.ingress.every((rule: Json) => rule.from.length > 0)).toBe(true);
    const [container] = podOf(variant).spec.containers;
    expect(container.ports).toEqual([{ name: 'gateway', containerPort: 8080, protocol: 'TCP' }]);
    expect(podOf(variant).spec.hostNetwork).toBeUndefined();
    expect(find(variant, 'SandboxTemplate').spec.networkPolicyManagement).toBe('Unmanaged');
  }
});

test('DEPLOY-POLICY ports without a key are reachable for labelled clients of agent-sandbox alone', () => {
  const [ofGateway, ofRuntime, ...more] = find(withAgentSandbox, 'NetworkPolicy').spec.ingress as Json[];
  const labelsOf = (rule: Json) =>
    rule?.from.flatMap((peer: Json) => Object.keys((peer.podSelector ?? peer.namespaceSelector).matchLabels));
  expect(ofGateway?.ports).toEqual([{ port: 8081, protocol: 'TCP' }]);
  expect(labelsOf(ofGateway)).toEqual(['boxkeep-client', 'boxkeep-client']);
  expect(ofRuntime?.ports.map(({ port }: Json) => port)).toEqual([8080, 9090]);
  expect(labelsOf(ofRuntime)).toEqual(['agent-sandbox-client', 'agent-sandbox-client']);
  expect(more).toEqual([]);

  const [container] = podOf(withAgentSandbox).spec.containers;
  const ports = Object.fromEntries(container.ports.map(({ name, containerPort }: Json) => [name, containerPort]));
  expect(ports).toEqual({ gateway: 8081, runtime: 8080, processes: 9090 });
  expect(container.env).toContainEqual({ name: 'SVC_PORT', value: '8081' });
  expect(container.readinessProbe.httpGet).toEqual({ path: '/v1/health', port: 'runtime' });
  expect(container.volumeMounts.map(({ mountPath }: Json) => mountPath)).toContain('/workspace');
});

test('DEPLOY-POLICY a sandbox reaches names and the public internet, and no address of the machine’s own networks', () => {
  const own = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];
  const ownOfSix = ['::1/128', 'fc00::/7', 'fe80::/10', '64:ff9b::/96', '64:ff9b:1::/48'];
  const local = { ipBlock: { cidr: '169.254.20.10/32' } };
  for (const name of [...variants, 'claim']) {
    const rules = find(name, 'NetworkPolicy').spec.egress as Json[];
    expect(rules.every((rule) => rule.to.length > 0)).toBe(true);
    const ofNodeLocal = rules.find((rule) => JSON.stringify(rule.to) === JSON.stringify([local]));
    expect(ofNodeLocal?.ports.map((entry: Json) => entry.port)).toEqual([53, 53]);
  }
  for (const variant of variants) {
    const open = (find(variant, 'NetworkPolicy').spec.egress as Json[]).find((rule) => rule.ports === undefined);
    expect(open?.to.map((peer: Json) => peer.ipBlock)).toEqual([
      { cidr: '0.0.0.0/0', except: own },
      { cidr: '::/0', except: ownOfSix },
    ]);
  }
});

test('DEPLOY-POLICY every image has the version of the daemon as its tag', () => {
  const { version } = JSON.parse(readFileSync(join(repositoryRoot, 'daemon/package.json'), 'utf8'));
  for (const name of [...variants, 'claim'])
    for (const [, image] of (built.get(name) ?? '').matchAll(/image: (boxkeep\S*)/g))
      expect([name, image]).toEqual([name, expect.stringMatching(new RegExp(`^boxkeep/[a-z]+:${version}$`))]);
});

test('DEPLOY-POLICY no manifest has a key, probes send none, and the key comes from a secret', () => {
  for (const [name, text] of built) expect([name, /kind: Secret/.test(text)]).toEqual([name, false]);
  for (const variant of variants) {
    const [container] = podOf(variant).spec.containers;
    const key = container.env.find((entry: Json) => entry.name === 'SVC_API_KEY');
    expect(key).toEqual({ name: 'SVC_API_KEY', valueFrom: { secretKeyRef: { name: 'boxkeep-key', key: 'key' } } });
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      expect(container[probe].httpGet).toEqual({ path: '/health', port: 'gateway' });
  }
});

test('DEPLOY-POLICY a sandbox drains for 8 s and has time to end its commands', () => {
  for (const variant of variants) {
    const { spec } = podOf(variant);
    expect(spec.containers[0].lifecycle.preStop).toEqual({ sleep: { seconds: 8 } });
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(8 + 10);
  }
});

test('DEPLOY-POLICY output is kept on disk, and shared memory is in memory and below the limit', () => {
  for (const variant of variants) {
    const { spec } = podOf(variant);
    const [container] = spec.containers;
    const place = container.env.find((entry: Json) => entry.name === 'SVC_RUNTIME_DIR').value as string;
    const mount = container.volumeMounts.find(({ mountPath }: Json) => place.startsWith(`${mountPath}/`));
    expect(spec.volumes.find(({ name }: Json) => name === mount.name).emptyDir).toEqual({ sizeLimit: '2Gi' });
    const shared = spec.volumes.find(({ emptyDir }: Json) => emptyDir.medium === 'Memory');
    expect([variant, shared === undefined]).toEqual([variant, variant === 'base']);
    if (shared) expect(shared.emptyDir.sizeLimit < container.resources.limits.memory).toBe(true);
  }
});

test('DEPLOY-POLICY the profile for Chromium is used where Chromium runs on the kernel of the node', () => {
  const profile = (name: string) => podOf(name).spec.containers[0].securityContext.seccompProfile;
  expect(profile('base')).toEqual({ type: 'RuntimeDefault' });
  for (const name of ['browser', 'computer'])
    expect(profile(name)).toEqual({ type: 'Localhost', localhostProfile: 'profiles/boxkeep-chromium.json' });
  for (const variant of variants)
    for (const runtime of runtimes) {
      expect(profile(`${variant} in ${runtime}`)).toEqual({ type: 'RuntimeDefault' });
      expect(podOf(`${variant} in ${runtime}`).spec.runtimeClassName).toBe(runtime);
      expect(find(`${variant} in ${runtime}`, 'RuntimeClass').metadata.name).toBe(runtime);
    }
});

test('DEPLOY-POLICY the profile for Chromium allows namespaces, and nothing that needs a capability', () => {
  const text = readFileSync(join(repositoryRoot, 'deploy/seccomp/chromium.json'), 'utf8');
  const { defaultAction, syscalls } = JSON.parse(text);
  const allowed = syscalls
    .filter(({ action, args }: Json) => action === 'SCMP_ACT_ALLOW' && args === undefined)
    .flatMap(({ names }: Json) => names as string[]);
  expect(defaultAction).toBe('SCMP_ACT_ERRNO');
  for (const name of ['clone', 'clone3', 'unshare', 'chroot', 'execve']) expect(allowed).toContain(name);
  for (const name of ['mount', 'setns', 'bpf', 'keyctl', 'init_module', 'kexec_load', 'perf_event_open', 'reboot'])
    expect(allowed).not.toContain(name);
  // Conditions are unknown to the runtime, which would apply their rules always.
  expect(text).not.toMatch(/"(?:includes|excludes)"/);
});

describe('kube-score', () => {
  /** The check, and the reason why a sandbox does not follow it. */
  const ignored = {
    'container-image-pull-policy': 'an image of this version may be on the node only',
    'container-security-context-readonlyrootfilesystem': 'commands write to the root; it is theirs',
    'container-security-context-user-group-id': 'the account of the image is 1000',
    'pod-probes': 'one probe for readiness and for life is meant: the daemon answers both',
    'pod-probes-identical': 'as above; they differ in their times',
  };

  test.each([...variants, 'claim', withAgentSandbox])('DEPLOY-LINT kube-score has no complaint about %s', (name) => {
    const texts = objects(name).map((object: Json) => (object.kind === 'SandboxTemplate' ? podOf(name) : object));
    const input = texts.map((object) => `---\n${JSON.stringify(object)}\n`).join('');
    const flags = Object.keys(ignored).flatMap((check) => ['--ignore-test', check]);
    const { code, output } = run([program('kube-score'), 'score', '--output-format', 'ci', ...flags, '-'], input);
    const complaints = output.split('\n').filter((line) => /^\[(?:CRITICAL|WARNING)\]/.test(line));
    expect([code, complaints]).toEqual([0, []]);
    expect(output).toContain('[OK]');
  });
});
