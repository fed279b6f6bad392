/** Where containers and images are kept, for the tool that builds images and for their tests. */
import { join } from 'node:path';

/** Images and layers are large and belong to the machine, so that they are outside of the repository. */
export const imageStore = process.env.BOXKEEP_IMAGES_STORE ?? '/var/lib/boxkeep-images';

/** @type {Readonly<Record<'daemon' | 'computer', string>>} */
export const imageNames = { daemon: 'localhost/boxkeep/daemon', computer: 'localhost/boxkeep/computer' };

/** The variables that lead podman and buildah to the store and to the settings in it. */
export const containerEnvironment = {
  ...process.env,
  CONTAINERS_CONF: join(imageStore, 'containers.conf'),
  CONTAINERS_STORAGE_CONF: join(imageStore, 'storage.conf'),
};
