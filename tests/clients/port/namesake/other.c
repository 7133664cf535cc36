// SPDX-License-Identifier: GPL-2.0
/* Does not include mine.h: this is the field of the kernel's struct usb_hcd. */
#include <linux/usb.h>
#include <linux/usb/hcd.h>

void other(struct usb_hcd *hcd)
{
	mod_timer(&hcd->rh_timer, jiffies + HZ);
	sk_reset_timer(NULL, &hcd->rh_timer, jiffies);
}

/* Reads a field of the structure, and calls nothing. */
long other_left(struct usb_hcd *hcd)
{
	return hcd->rh_timer.expires - jiffies;
}
