# SPDX-License-Identifier: GPL-2.0
#
# NixOS, the module for a kernel:
#
#	boot.extraModulePackages = [ (config.boot.kernelPackages.callPackage ./dist/packaging { }) ];
#	boot.kernelModules = [ "twheel" ];
#	users.groups.twheel = { };
#	services.udev.extraRules = builtins.readFile ./dist/70-twheel.rules;
{ stdenv, lib, kernel }:

stdenv.mkDerivation {
  pname = "twheel";
  version = "@version@-${kernel.version}";
  src = lib.cleanSource ../..;

  hardeningDisable = [ "pic" "format" ];
  nativeBuildInputs = kernel.moduleBuildDependencies;
  makeFlags = kernel.makeFlags ++ [ "KDIR=${kernel.dev}/lib/modules/${kernel.modDirVersion}/build" ];
  buildFlags = [ "modules" ];
  installPhase = ''
    install -D -m 644 -t $out/lib/modules/${kernel.modDirVersion}/updates twheel.ko
    make headers_install DESTDIR=$out prefix=
  '';

  meta = {
    description = "Timing wheels for millions of timers";
    license = lib.licenses.gpl2Only;
    platforms = lib.platforms.linux;
  };
}
