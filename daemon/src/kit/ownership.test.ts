/** The ownership of processes and sessions through the steps of an upgrade. */
import { expect, test } from 'bun:test';
import { Deadline } from './deadline.ts';
import { HandedOver } from './handed-over.ts';
import { Ownership } from './ownership.ts';

test('an upgrade changes the state from owned to leaving to left, and only the owner passes the assertion', () => {
  const ownership = new Ownership();
  ownership.assertOwned();
  ownership.startLeaving();
  expect([ownership.state, ownership.isOwned, ownership.isLeft]).toEqual(['leaving', false, false]);
  expect(() => ownership.assertOwned()).toThrow(HandedOver);
  ownership.finishLeaving();
  expect([ownership.state, ownership.isOwned, ownership.isLeft]).toEqual(['left', false, true]);
  expect(() => ownership.assertOwned()).toThrow(HandedOver);
});

test('the start of an upgrade ends all waits', () => {
  const ownership = new Ownership();
  using wait = new Deadline(null, ownership.leaving);
  expect(wait.passed).toBe(false);
  ownership.startLeaving();
  expect(wait.passed).toBe(true);
});

test('a failed upgrade returns the ownership, and later waits continue', () => {
  const ownership = new Ownership();
  const before = ownership.leaving;
  ownership.startLeaving();
  ownership.finishLeaving();
  ownership.startReturning();
  expect([ownership.state, ownership.leaving.aborted]).toEqual(['leaving', true]);
  ownership.takeBack();
  ownership.assertOwned();
  expect([ownership.state, before.aborted, ownership.leaving.aborted]).toEqual(['owned', true, false]);
  ownership.startLeaving();
  expect(ownership.leaving.aborted).toBe(true);
});
